package io.quartermaster.embedded;

import io.quartermaster.launch.StartFailure;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;

/**
 * Keeps one program running: starts it, and restarts it when it ends by itself, immediately the first time and then
 * after growing pauses. A program that ends during its restart counts as ended once more. If a program that the service
 * needs fails too often, the restarts stop; any other program is restarted without limit.
 *
 * <p>One thread does all of this in sequence. {@link #close} interrupts it, also in the middle of a start, and returns
 * when the program has ended.
 */
final class RestartingProcess implements AutoCloseable {

    private static final int MAX_LOSSES = 5;
    private static final Duration LOSS_WINDOW = Duration.ofMinutes(10);
    /** The pause before the third start within the window; it doubles with each further one. */
    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);

    private static final int MAX_DOUBLINGS = 5;

    private final String title;
    private final String where;
    private final Supplier<? extends EmbeddedProgram> starter;
    private final ProgressListener progressListener;
    private final CompletableFuture<Void> ready = new CompletableFuture<>();
    private final CompletableFuture<StartFailure> serviceFailure;
    private final boolean needed;
    private final Deque<Long> lossNanos = new ArrayDeque<>();
    private final Thread thread;
    /** The failure of the last failed start; empty if none failed. */
    private String lastFailure = "";

    private volatile boolean closing;

    /**
     * Creates the loop without starting the program.
     *
     * @param serviceFailure completed when a needed program cannot be kept running
     * @param needed whether the service depends on the program
     */
    RestartingProcess(
            String title,
            String where,
            Supplier<? extends EmbeddedProgram> starter,
            ProgressListener progressListener,
            CompletableFuture<StartFailure> serviceFailure,
            boolean needed) {
        this.title = title;
        this.where = where;
        this.starter = starter;
        this.progressListener = progressListener;
        this.serviceFailure = serviceFailure;
        this.needed = needed;
        this.thread = Thread.ofPlatform().name("keep-" + title).daemon().unstarted(this::run);
    }

    void start() {
        thread.start();
    }

    /** Completes when the program answers for the first time, or fails with the reason. */
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

    private void run() {
        try {
            do {
                startOnce().ifPresent(this::awaitEnd);
            } while (mayStartAgain());
        } catch (RuntimeException | Error e) {
            if (ready.completeExceptionally(e) || closing) {
                return;
            }
            StartFailure failure = new StartFailure(title + " ended, and its restarts failed: " + e.getMessage(), e);
            if (needed) {
                serviceFailure.complete(failure);
            } else {
                progressListener.warn(failure.toString());
            }
        }
    }

    /**
     * The started program; empty when its restart failed, which counts as one more loss. The first start must succeed.
     */
    private Optional<EmbeddedProgram> startOnce() {
        ProgressListener.Step step = progressListener.begin(title);
        try {
            EmbeddedProgram program = starter.get();
            step.done(where);
            ready.complete(null);
            return Optional.of(program);
        } catch (StartFailure e) {
            if (!ready.isDone() || closing) {
                throw e;
            }
            lastFailure = String.valueOf(e.getMessage());
            progressListener.warn(title + ": the restart failed: " + lastFailure);
            return Optional.empty();
        }
    }

    private void awaitEnd(EmbeddedProgram program) {
        try {
            program.process().onExit().get();
            if (!closing) {
                progressListener.warn(title + " (pid " + program.process().pid() + ") ended by itself; restarting it");
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
        if (needed && lossNanos.size() > MAX_LOSSES) {
            throw new StartFailure("it ended, or failed to start, " + lossNanos.size() + " times within "
                    + LOSS_WINDOW.toMinutes() + " minutes"
                    + (lastFailure.isEmpty() ? "; see its log" : ". The last failure: " + lastFailure));
        }
        return pause(lossNanos.size());
    }

    /**
     * Waits before the next start, because the cause of the failure, such as a lock that is still held, may disappear.
     * Returns false when the loop must close.
     */
    private static boolean pause(int losses) {
        try {
            Thread.sleep(
                    losses < 2 ? Duration.ZERO : FIRST_PAUSE.multipliedBy(1L << Math.min(losses - 2, MAX_DOUBLINGS)));
            return true;
        } catch (InterruptedException closing) {
            return false;
        }
    }
}
