package io.quartermaster.client.jobs;

import picocli.CommandLine.Option;

/** The options to wait for a submitted job, or to follow it; at most one is given. */
final class AfterSubmission {

    /** Without {@code --follow}, the presence of this object says it already. */
    @SuppressWarnings("UnusedVariable")
    @Option(names = "--wait", description = "Wait until the job ends; its outcome decides the exit code")
    private boolean wait;

    @Option(names = "--follow", description = "Print the job's output until it ends, as --wait")
    private boolean follow;

    boolean follows() {
        return follow;
    }
}
