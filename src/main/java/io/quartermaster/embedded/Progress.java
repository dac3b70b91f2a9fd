package io.quartermaster.embedded;

/** Hears what is being done while it is done; called from several threads. */
@FunctionalInterface
public interface Progress {

    /** Begins a step; the returned handle is closed with what came out of it. */
    Step begin(String what);

    /** A step under way. A step that is never finished has failed. */
    @FunctionalInterface
    interface Step {
        void done(String outcome);
    }

    /** Says nothing; for tests and background starts. */
    static Progress silent() {
        return what -> outcome -> {};
    }
}
