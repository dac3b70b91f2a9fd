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
 * The cell as it is now, for questions about what will become of it. Questions are answered one after the other on a thread of their own. How long a
 * snapshot is used again {@link ExpiringValue} says.
 */
@ApplicationScoped
class CellQueryExecutor {

    private static final Logger LOG = Logger.getLogger(CellQueryExecutor.class);
    private static final int MOST_WAITING = 64;
    private static final long PART_OF_HEAP = 4;
    /** Of the snapshot, the engines and the forecasts of a simulation together. */
    private static final long BYTES_PER_WORKLOAD = 8_192;

    private final CellSnapshotReader snapshots;
    private final InsightConfig config;
    private final AtomicInteger waiting = new AtomicInteger();
    private final ScheduledThreadPoolExecutor worker = new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().name("insight").daemon().factory());

    // Of the worker's thread alone.
    private final ExpiringValue<CellView> view;
    private boolean tooLarge;

    CellQueryExecutor(CellSnapshotReader snapshots, InsightConfig config) {
        this.snapshots = snapshots;
        this.config = config;
        this.view = new ExpiringValue<>(
                this::read,
                CellView::costNanos,
                System::nanoTime,
                task -> worker.schedule(task, ExpiringValue.KEPT_UNUSED.toMillis(), TimeUnit.MILLISECONDS));
    }

    void stop(@Observes ShutdownEvent event) {
        worker.shutdownNow();
    }

    /** The answer, back where it was asked for. Fails with 503 when too many wait already, or when the cell is too large to be looked at. */
    <T> Uni<T> ask(Function<CellView, T> question) {
        return CallerContextSwitch.resume(Uni.createFrom().completionStage(() -> {
            CompletableFuture<T> answer = new CompletableFuture<>();
            if (waiting.incrementAndGet() > MOST_WAITING) {
                waiting.decrementAndGet();
                throw busy();
            }
            worker.execute(() -> answer(question, answer));
            return answer;
        }));
    }

    /** The same for whoever would rather do without an answer than wait long for it, or fail. */
    <T> Uni<Optional<T>> soon(Function<CellView, T> question) {
        return CallerContextSwitch.resume(ask(view -> Optional.of(question.apply(view)))
                .ifNoItem()
                .after(config.patience())
                .recoverWithItem(Optional.empty())
                .onFailure()
                .recoverWithItem(failure -> {
                    // A problem is known to whom it concerns: one that asks too much, or too large a cell.
                    LOG.logf(
                            failure instanceof ProblemException ? Logger.Level.DEBUG : Logger.Level.WARN,
                            "an answer is given without what will be: %s",
                            failure);
                    return Optional.empty();
                }));
    }

    private static ProblemException busy() {
        return ProblemException.of(
                503,
                "busy",
                "as many questions about what will be as this replica takes on at a time wait for their answers ("
                        + MOST_WAITING + "); ask again in a few seconds");
    }

    private <T> void answer(Function<CellView, T> question, CompletableFuture<T> answer) {
        waiting.decrementAndGet();
        try {
            // Whoever was not patient enough has gone.
            if (!answer.isDone()) {
                answer.complete(question.apply(view.get()));
            }
        } catch (RuntimeException | Error e) {
            answer.completeExceptionally(e);
        }
    }

    private CellView read() {
        long begun = System.nanoTime();
        Optional<CellSnapshot> snapshot = snapshots.read(config.statementTimeout(), mostWorkloads());
        if (snapshot.isEmpty() && !tooLarge) {
            LOG.warnf(
                    "more than %d workloads wait or run: there are no outlooks and no simulations until there are fewer, or more heap",
                    mostWorkloads());
        } else if (snapshot.isPresent() && tooLarge) {
            LOG.info("there are outlooks and simulations again");
        }
        tooLarge = snapshot.isEmpty();
        return new CellView(
                snapshot.orElseThrow(() -> ProblemException.of(
                        503,
                        "cell-too-large",
                        "more than " + mostWorkloads()
                                + " workloads wait or run; the operator sets how many are looked at")),
                config,
                System.nanoTime() - begun);
    }

    /** Looking at a cell must not take the memory that requests need. */
    private long mostWorkloads() {
        return Math.min(config.workloadsLimit(), Runtime.getRuntime().maxMemory() / PART_OF_HEAP / BYTES_PER_WORKLOAD);
    }
}
