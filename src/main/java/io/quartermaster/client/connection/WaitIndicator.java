package io.quartermaster.client.connection;

import java.io.PrintWriter;
import java.time.Duration;

/**
 * A line on the terminal that appears when a step takes longer than a second, and disappears when it ends. Without a
 * terminal nothing is printed.
 */
public final class WaitIndicator {

    private static final Duration DELAY = Duration.ofSeconds(1);
    private static final Duration INTERVAL = Duration.ofSeconds(1);
    private static final String ERASE = "\r\u001B[K";

    private final PrintWriter err;
    private final boolean terminal;

    public WaitIndicator(PrintWriter err, boolean terminal) {
        this.err = err;
        this.terminal = terminal;
    }

    /** Shows the text while the returned step is open. */
    public Step begin(String text) {
        return terminal ? new ShownStep(text) : () -> {};
    }

    /** A step that takes time. */
    public interface Step extends AutoCloseable {
        @Override
        void close();
    }

    private final class ShownStep implements Step {
        private final Thread thread;
        private boolean shown;

        ShownStep(String text) {
            long begun = System.nanoTime();
            thread = Thread.ofPlatform().daemon().start(() -> {
                try {
                    Thread.sleep(DELAY);
                    while (true) {
                        show(text + " (" + (System.nanoTime() - begun) / 1_000_000_000L + " s)");
                        Thread.sleep(INTERVAL);
                    }
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
        }

        private synchronized void show(String text) {
            if (!Thread.currentThread().isInterrupted()) {
                shown = true;
                err.print(ERASE + text);
                err.flush();
            }
        }

        @Override
        public synchronized void close() {
            thread.interrupt();
            if (shown) {
                err.print(ERASE);
                err.flush();
            }
        }
    }
}
