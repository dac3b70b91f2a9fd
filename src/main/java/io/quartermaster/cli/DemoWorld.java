package io.quartermaster.cli;

/**
 * The names of the demonstration: the worked example of ClearML's article on resource policies (June 2024), with a second tenant that
 * borrows.
 */
final class DemoWorld {

    /** Reserves the whole pool. */
    static final String OWNER = "acme";
    /** Reserves nothing and may use two. */
    static final String BORROWER = "globex";

    static final String RND_MEMBER = "rnd-member";
    static final String DEVOPS_MEMBER = "devops-member";

    static final String CLI_CLIENT = "quartermaster-cli";
    /** Under this name the data folder keeps that client's secret. */
    static final String CLI_SECRET = "operator.quartermaster-cli";

    private DemoWorld() {}

    static String queue(String policy, int gpus) {
        return policy + "-" + profile(gpus);
    }

    static String profile(int gpus) {
        return gpus + "gpu";
    }
}
