package io.quartermaster.cli;

/** A file is not a valid scenario; says where and why. */
final class ScenarioSyntaxException extends RuntimeException {
    private final int line;

    ScenarioSyntaxException(int line, String what) {
        super(what);
        this.line = line;
    }

    /** Counted from 1. */
    int line() {
        return line;
    }
}
