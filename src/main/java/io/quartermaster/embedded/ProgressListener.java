package io.quartermaster.embedded;

/** Hears what is being done while it is done; called from several threads. */
public interface ProgressListener {

    /** Begins a step; the returned handle is closed with what came out of it. A step that is never finished has failed. */
    Step begin(String what);

    /** Something went wrong that is being mended. */
    void warn(String what);

    /** A step under way. */
    @FunctionalInterface
    interface Step {
        void done(String outcome);
    }

    /** Says nothing; for tests. */
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
