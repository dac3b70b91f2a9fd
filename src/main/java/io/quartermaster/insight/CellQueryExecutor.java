package io.quartermaster.insight;

import io.quarkus.runtime.ShutdownEvent;
import io.quartermaster.access.CallerContextSwitch;
import io.quartermaster.dispatch.read.CellSnapshot;
import io.quartermaster.dispatch.read.CellSnapshotReader;
import io.quartermaster.platform.http.ProblemException;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jboss.logging.Logger;

/**
 * The executor of questions about the future of the cell. It answers them one after the other on its own thread, from a
 * snapshot of the cell. {@link ExpiringValue} defines how long a snapshot is reused.
 */
@ApplicationScoped
class CellQueryExecutor {

    private static final Logger LOG = Logger.getLogger(CellQueryExecutor.class);
    private static final int MAX_WAITING = 64;
    private static final int MAX_WAITING_ADDITIONS = 4;
    private static final long HEAP_DIVISOR = 4;
    /** The memory per workload for the snapshot, the engines and the forecasts of a simulation together. */
    private static final long BYTES_PER_WORKLOAD = 8_192;

    private final CellSnapshotReader snapshots;
    private final InsightConfig config;
    private final AtomicInteger waiting = new AtomicInteger();
    private final ScheduledThreadPoolExecutor worker = new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().name("insight").daemon().factory());

    // Used only by the worker's thread.
    private final ExpiringValue<CellView> view;
    private boolean tooLarge;

    CellQueryExecutor(CellSnapshotReader snapshots, InsightConfig config) {
        this.snapshots = snapshots;
        this.config = config;
        this.view = new ExpiringValue<>(
                this::readView,
                CellView::costNanos,
                System::nanoTime,
                task -> worker.schedule(task, ExpiringValue.MAX_UNUSED_TIME.toMillis(), TimeUnit.MILLISECONDS));
    }

    void stop(@Observes ShutdownEvent event) {
        worker.shutdownNow();
    }

    /**
     * Answers a question, in the caller's context. Fails with 503 if too many questions wait already, or if the cell is
     * too large for a snapshot.
     */
    <T> Uni<T> query(Function<CellView, T> question) {
        return CallerContextSwitch.resume(Uni.createFrom().completionStage(() -> {
            CompletableFuture<T> answer = new CompletableFuture<>();
            if (waiting.incrementAndGet() > MAX_WAITING) {
                waiting.decrementAndGet();
                throw busy();
            }
            worker.execute(() -> complete(question, answer));
            return answer;
        }));
    }

    /** Answers a question for a caller that prefers no answer to a long wait or a failure. */
    <T> Uni<Optional<T>> queryWithTimeout(Function<CellView, T> question) {
        return CallerContextSwitch.resume(query(view -> Optional.of(question.apply(view)))
                .ifNoItem()
                .after(config.patience())
                .recoverWithItem(Optional.empty())
                .onFailure()
                .recoverWithItem(failure -> {
                    // A problem needs no warning: the caller asked too much, or the operator knows that the cell is too
                    // large.
                    LOG.logf(
                            failure instanceof ProblemException ? Logger.Level.DEBUG : Logger.Level.WARN,
                            "the response has no numbers of the cell: %s",
                            failure);
                    return Optional.empty();
                }));
    }

    /**
     * Like {@link #queryWithTimeout}, for an answer that is only an addition. It is empty immediately if several
     * questions wait already, so that such questions never take the places of others.
     */
    <T> Uni<Optional<T>> queryIfFree(Function<CellView, T> question) {
        return waiting.get() > MAX_WAITING_ADDITIONS
                ? Uni.createFrom().item(Optional.empty())
                : queryWithTimeout(question);
    }

    private static ProblemException busy() {
        return ProblemException.of(
                503,
                "busy",
                "this replica already has as many outlooks and simulations in its queue as it accepts (" + MAX_WAITING
                        + "); ask again in a few seconds");
    }

    private <T> void complete(Function<CellView, T> question, CompletableFuture<T> answer) {
        waiting.decrementAndGet();
        try {
            // Skip the question if its caller has stopped waiting.
            if (!answer.isDone()) {
                answer.complete(question.apply(view.get()));
            }
        } catch (RuntimeException | Error e) {
            answer.completeExceptionally(e);
        }
    }

    private CellView readView() {
        long begun = System.nanoTime();
        Optional<CellSnapshot> snapshot = snapshots.read(config.statementTimeout(), maxWorkloads());
        if (snapshot.isEmpty() && !tooLarge) {
            LOG.warnf(
                    "more than %d workloads wait or run: this replica computes no outlooks and no simulations until "
                            + "there are fewer, or until it has more heap",
                    maxWorkloads());
        } else if (snapshot.isPresent() && tooLarge) {
            LOG.info("this replica computes outlooks and simulations again");
        }
        tooLarge = snapshot.isEmpty();
        return new CellView(
                snapshot.orElseThrow(() -> ProblemException.of(
                        503,
                        "cell-too-large",
                        "more than " + maxWorkloads()
                                + " workloads wait or run, which is too many for outlooks and simulations; ask"
                                + " the operator to raise quartermaster.insight.workloads-limit or the heap of"
                                + " the replicas")),
                config,
                System.nanoTime() - begun);
    }

    /** The snapshot of a cell must not take the memory that requests need. */
    private long maxWorkloads() {
        return Math.min(config.workloadsLimit(), Runtime.getRuntime().maxMemory() / HEAP_DIVISOR / BYTES_PER_WORKLOAD);
    }
}
