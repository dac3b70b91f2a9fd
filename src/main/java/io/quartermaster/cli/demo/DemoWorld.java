package io.quartermaster.cli.demo;

/**
 * The names of the demonstration: the worked example of ClearML's article on resource policies (June 2024), with a
 * second tenant that borrows.
 */
public final class DemoWorld {

    /** Reserves the whole pool. */
    public static final String OWNER = "acme";
    /** Reserves nothing and may use two. */
    public static final String BORROWER = "globex";

    public static final String RND_MEMBER = "rnd-member";
    public static final String DEVOPS_MEMBER = "devops-member";

    public static final String CLI_CLIENT = "quartermaster-cli";
    /** The name under which the data folder keeps that client's secret. */
    public static final String CLI_SECRET = "operator.quartermaster-cli";

    private DemoWorld() {}

    public static String queue(String policy, int gpus) {
        return policy + "-" + profile(gpus);
    }

    static String profile(int gpus) {
        return gpus + "gpu";
    }
}
