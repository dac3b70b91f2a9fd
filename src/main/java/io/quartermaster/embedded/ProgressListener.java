package io.quartermaster.embedded;

/** Listens to the progress of a start; called from several threads. */
public interface ProgressListener {

    /** Begins a step; its end passes the result to the returned handle. A step that never ends has failed. */
    Step begin(String what);

    /** Reports a failure that the program is about to handle by itself. */
    void warn(String what);

    /** A step in progress. */
    @FunctionalInterface
    interface Step {
        void done(String outcome);
    }

    /** A listener that prints nothing; for tests. */
    static ProgressListener silent() {
        return new ProgressListener() {
            @Override
            public Step begin(String what) {
                return outcome -> {};
            }

            @Override
            public void warn(String what) {}
        };
    }
}
