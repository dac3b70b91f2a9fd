package io.quartermaster.platform.operations;

/**
 * The failure of a system outside the service. Retries while that system is away do not count against the limit of
 * retries.
 */
public interface ExternalFailure {

    /** Whether the system was unreachable, so that a later call may succeed. */
    boolean isUnavailable();
}
