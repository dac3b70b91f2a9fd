package io.quartermaster.embedded;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;

/**
 * Keeps one program running: starts it, starts it again when it ends by itself, and gives up when that happens too often.
 *
 * <p>One thread does all of this in turn; {@link #close} interrupts it, also in the middle of a start, and returns when the program is
 * gone.
 */
final class Keeper implements AutoCloseable {

    private static final int MOST_LOSSES = 5;
    private static final Duration LOSS_WINDOW = Duration.ofMinutes(10);

    private final String title;
    private final String where;
    private final Supplier<? extends EmbeddedProgram> start;
    private final Progress progress;
    private final CompletableFuture<Void> ready = new CompletableFuture<>();
    private final CompletableFuture<StartFailure> broken;
    private final Deque<Long> lossNanos = new ArrayDeque<>();
    private final Thread thread;
    private volatile boolean closing;

    /** The last argument is completed when the program cannot be kept running. */
    Keeper(
            String title,
            String where,
            Supplier<? extends EmbeddedProgram> start,
            Progress progress,
            CompletableFuture<StartFailure> broken) {
        this.title = title;
        this.where = where;
        this.start = start;
        this.progress = progress;
        this.broken = broken;
        this.thread = Thread.ofPlatform().name("keep-" + title).daemon().unstarted(this::keep);
    }

    void begin() {
        thread.start();
    }

    /** Completes when the program answers for the first time, or fails with what hindered it. */
    CompletableFuture<Void> ready() {
        return ready;
    }

    @Override
    public void close() {
        closing = true;
        thread.interrupt();
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void keep() {
        try {
            do {
                Progress.Step step = progress.begin(title);
                EmbeddedProgram program = start.get();
                step.done(where);
                ready.complete(null);
                awaitEnd(program);
            } while (mayStartAgain());
        } catch (RuntimeException | Error e) {
            if (!ready.completeExceptionally(e) && !closing) {
                broken.complete(new StartFailure(title + " ended and cannot be started again: " + e.getMessage(), e));
            }
        }
    }

    private void awaitEnd(EmbeddedProgram program) {
        try {
            program.child().onExit().get();
            if (!closing) {
                progress.warn(title + " (pid " + program.child().pid() + ") ended by itself; starting it again");
            }
        } catch (InterruptedException e) {
            program.close();
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    private boolean mayStartAgain() {
        if (closing) {
            return false;
        }
        long now = System.nanoTime();
        lossNanos.addLast(now);
        while (now - lossNanos.getFirst() > LOSS_WINDOW.toNanos()) {
            lossNanos.removeFirst();
        }
        if (lossNanos.size() > MOST_LOSSES) {
            throw new StartFailure("it ended " + lossNanos.size() + " times within " + LOSS_WINDOW.toMinutes()
                    + " minutes; see its log");
        }
        return true;
    }
}
