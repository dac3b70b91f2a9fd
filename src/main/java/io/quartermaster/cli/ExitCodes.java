package io.quartermaster.cli;

/** What a command tells the shell. 0 is success, 1 a failure nobody foresaw, 2 a wrong option (picocli's own). */
final class ExitCodes {

    static final int OK = 0;
    static final int INTERNAL = 1;
    static final int WRONG_OPTION = 2;
    static final int NOT_RUNNING = 3;
    static final int CANNOT_START = 4;
    static final int ALREADY_RUNNING = 5;
    static final int LOST_A_PART = 6;
    static final int REFUSED = 7;

    private ExitCodes() {}
}
