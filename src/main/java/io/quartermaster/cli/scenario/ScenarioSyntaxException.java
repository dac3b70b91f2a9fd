package io.quartermaster.cli.scenario;

/** Error for a file that is not a valid scenario, with the line and the cause. */
public final class ScenarioSyntaxException extends RuntimeException {
    private final int line;

    ScenarioSyntaxException(int line, String what) {
        super(what);
        this.line = line;
    }

    /** The line of the error, counted from 1. */
    public int line() {
        return line;
    }
}
