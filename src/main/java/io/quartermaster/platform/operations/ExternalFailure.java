package io.quartermaster.platform.operations;

/** The failure of something outside the service. While that is away, trying again costs none of the tries there are. */
public interface ExternalFailure {

    /** Whether it was not there to be asked, so that asking later may do. */
    boolean isAway();
}
