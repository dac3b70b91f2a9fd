package io.quartermaster.insight;

import io.quarkus.runtime.ShutdownEvent;
import io.quartermaster.access.CallerContext;
import io.quartermaster.dispatch.CellSnapshot;
import io.quartermaster.dispatch.CellSnapshots;
import io.quartermaster.platform.ProblemException;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The cell as it is now, for questions about what will become of it. Questions are answered one after the other on a thread of their own. A
 * snapshot is used again for as long as five times the work on it took, so that a large cell is not read all the time, and is let go when
 * nobody asks any more.
 */
@ApplicationScoped
class LiveCell {

    private static final Logger LOG = Logger.getLogger(LiveCell.class);
    private static final int MOST_WAITING = 64;
    private static final long PART_OF_HEAP = 4;
    /** Of the snapshot, the engines and the forecasts of a simulation together. */
    private static final long BYTES_PER_WORKLOAD = 8_192;

    private static final long USED_PER_COST = 5;
    private static final Duration LONGEST_USE = Duration.ofSeconds(10);
    private static final Duration KEPT_UNUSED = Duration.ofSeconds(30);

    private final CellSnapshots snapshots;
    private final InsightConfig config;
    private final AtomicInteger waiting = new AtomicInteger();
    private final ScheduledThreadPoolExecutor worker = new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().name("insight").daemon().factory());

    // Of the worker's thread alone.
    private @Nullable CellView view;
    private long readNanos;
    private long askedNanos;
    private boolean letsGo;

    LiveCell(CellSnapshots snapshots, InsightConfig config) {
        this.snapshots = snapshots;
        this.config = config;
    }

    void stop(@Observes ShutdownEvent event) {
        worker.shutdownNow();
    }

    /** The answer, back where it was asked for. Fails with 503 when too many wait already, or when the cell is too large to be looked at. */
    <T> Uni<T> ask(Function<CellView, T> question) {
        return CallerContext.resume(Uni.createFrom().completionStage(() -> {
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
        return CallerContext.resume(ask(view -> Optional.of(question.apply(view)))
                .ifNoItem()
                .after(config.patience())
                .recoverWithItem(Optional.empty())
                .onFailure()
                .recoverWithItem(failure -> {
                    LOG.warnf("an answer is given without what will be: %s", failure);
                    return Optional.empty();
                }));
    }

    static ProblemException busy() {
        return ProblemException.of(503, "busy", "this replica is busy foretelling for others; ask again");
    }

    private <T> void answer(Function<CellView, T> question, CompletableFuture<T> answer) {
        waiting.decrementAndGet();
        try {
            // Whoever was not patient enough has gone.
            if (!answer.isDone()) {
                answer.complete(question.apply(current()));
            }
        } catch (RuntimeException | Error e) {
            answer.completeExceptionally(e);
        }
    }

    private CellView current() {
        long now = System.nanoTime();
        askedNanos = now;
        CellView known = view;
        if (known != null && now - readNanos < Math.min(USED_PER_COST * known.costNanos(), LONGEST_USE.toNanos())) {
            return known;
        }
        view = null;
        CellSnapshot snapshot = snapshots
                .read(config.statementTimeout(), mostWorkloads())
                .orElseThrow(() -> ProblemException.of(
                        503,
                        "cell-too-large",
                        "more than " + mostWorkloads()
                                + " workloads wait or run; the operator sets how many are looked at"));
        CellView read = new CellView(snapshot, config, System.nanoTime() - now);
        readNanos = now;
        view = read;
        if (!letsGo) {
            letsGo = true;
            letGoLater();
        }
        return read;
    }

    /** Looking at a cell must not take the memory that requests need. */
    private long mostWorkloads() {
        return Math.min(config.workloadsLimit(), Runtime.getRuntime().maxMemory() / PART_OF_HEAP / BYTES_PER_WORKLOAD);
    }

    /** There is one such look at a time, however often the cell is read anew. */
    private void letGoLater() {
        worker.schedule(this::letGo, KEPT_UNUSED.toMillis(), TimeUnit.MILLISECONDS);
    }

    private void letGo() {
        if (System.nanoTime() - askedNanos < KEPT_UNUSED.toNanos()) {
            letGoLater();
        } else {
            view = null;
            letsGo = false;
        }
    }
}
