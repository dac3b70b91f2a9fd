package io.quartermaster.launch;

/** The exit codes of the commands. 0 is success, 1 an unexpected failure, 2 a wrong option (picocli's own). */
public final class ExitCodes {

    public static final int OK = 0;
    public static final int INTERNAL = 1;
    public static final int WRONG_OPTION = 2;
    public static final int NOT_RUNNING = 3;
    public static final int CANNOT_START = 4;
    public static final int ALREADY_RUNNING = 5;
    public static final int COMPONENT_LOST = 6;
    public static final int REFUSED = 7;

    private ExitCodes() {}
}
