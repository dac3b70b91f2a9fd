package io.quartermaster.cli.scenario;

/** A file is not a valid scenario; says where and why. */
public final class ScenarioSyntaxException extends RuntimeException {
    private final int line;

    ScenarioSyntaxException(int line, String what) {
        super(what);
        this.line = line;
    }

    /** Counted from 1. */
    public int line() {
        return line;
    }
}
