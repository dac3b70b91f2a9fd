package io.quartermaster.platform.operations;

import io.quarkus.arc.All;
import io.quarkus.scheduler.Scheduled;
import io.quarkus.vertx.core.runtime.context.VertxContextSafetyToggle;
import io.quartermaster.platform.db.SystemDatabase;
import io.smallrye.common.vertx.VertxContext;
import io.smallrye.mutiny.Uni;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Carries out operations step by step. It stores each state before the next step begins, so that a crash at any point
 * repeats at most one step. A process owns its operations by a short lease that it renews; when it dies, another
 * process continues them. A failed step is retried with back-off.
 */
@ApplicationScoped
public class OperationRunner {

    static final int MAX_CONCURRENT = 4;
    private static final Logger LOG = Logger.getLogger(OperationRunner.class);

    private final SystemDatabase database;
    private final OperationStore operations;
    private final OperationsConfig config;
    private final Vertx vertx;
    private final Map<String, OperationHandler> handlers = new TreeMap<>();
    /** Truncated to the millisecond, as all times of the API are. */
    private final Clock clock = Clock.tickMillis(ZoneOffset.UTC);

    private final String owner = UUID.randomUUID().toString();
    private final Set<UUID> claimed = ConcurrentHashMap.newKeySet();

    OperationRunner(
            SystemDatabase database,
            OperationStore operations,
            OperationsConfig config,
            Vertx vertx,
            @All List<OperationHandler> works) {
        this.database = database;
        this.operations = operations;
        this.config = config;
        this.vertx = vertx;
        for (OperationHandler work : works) {
            if (this.handlers.put(work.kind(), work) != null) {
                throw new IllegalStateException("two kinds of long work have the name " + work.kind());
            }
        }
    }

    @Scheduled(every = "${quartermaster.operations.poll:1s}", concurrentExecution = Scheduled.ConcurrentExecution.SKIP)
    Uni<Void> poll() {
        return renew().chain(this::claimMore)
                .onFailure()
                .invoke(e -> LOG.warnf("the search for due operations failed: %s", e.getMessage()))
                .onFailure()
                .recoverWithNull();
    }

    private Uni<Void> renew() {
        return claimed.isEmpty()
                ? Uni.createFrom().voidItem()
                : database.on(connection -> operations.renew(connection, owner, claimed, config.lease()));
    }

    private Uni<Void> claimMore() {
        if (claimed.size() >= MAX_CONCURRENT) {
            return Uni.createFrom().voidItem();
        }
        return database.on(connection -> operations.claim(connection, owner, config.lease()))
                .chain(found -> {
                    if (found.isEmpty()) {
                        return Uni.createFrom().voidItem();
                    }
                    start(found.get());
                    return claimMore();
                });
    }

    /**
     * Runs an operation concurrently with the poll, which meanwhile renews the lease. Each operation has its own Vert.x
     * context: a database session belongs to the context that opened it, and two operations on one context would share
     * a transaction.
     */
    private void start(OperationStore.Claim claim) {
        UUID id = claim.operation().id();
        claimed.add(id);
        Context own = VertxContext.createNewDuplicatedContext(vertx.getOrCreateContext());
        VertxContextSafetyToggle.setContextSafe(own, true);
        own.runOnContext(ignored -> runSteps(claim)
                .onTermination()
                .invoke(() -> claimed.remove(id))
                .subscribe()
                .with(
                        done -> {},
                        failure -> LOG.warnf("operation %s stops on this replica: %s", id, failure.getMessage())));
    }

    private Uni<Void> runSteps(OperationStore.Claim claim) {
        OperationHandler work = handlers.get(claim.operation().kind());
        if (work == null) {
            return Uni.createFrom()
                    .failure(new IllegalStateException("this program knows no operations of the kind "
                            + claim.operation().kind()));
        }
        Uni<Operation> progress = Uni.createFrom().item(claim.operation());
        for (String step : work.steps()) {
            progress = progress.chain(operation ->
                    operation.isDone(step) ? Uni.createFrom().item(operation) : run(work, step, operation, claim));
        }
        return progress.chain(operation -> finish(operation, Operation.State.SUCCEEDED, null, 0, Duration.ZERO))
                .onFailure(StepFailed.class)
                .recoverWithUni(failure -> scheduleRetry((StepFailed) failure));
    }

    private Uni<Operation> run(OperationHandler work, String step, Operation operation, OperationStore.Claim claim) {
        Operation started = operation.started(step, clock.instant());
        return save(started)
                .chain(() -> work.run(step, new OperationStore.Claim(started, claim.request())))
                .onFailure(failure -> !(failure instanceof LeaseLost))
                .transform(failure -> new StepFailed(step, started, failure))
                .chain(() -> {
                    Operation done = started.succeeded(step, clock.instant());
                    return save(done).replaceWith(done);
                });
    }

    private Uni<Void> scheduleRetry(StepFailed failed) {
        boolean away = failed.reason() instanceof ExternalFailure failure && failure.isUnavailable();
        int attempts = failed.operation().attempts() + (away ? 0 : 1);
        boolean giveUp = attempts > config.retries();
        Duration wait = away ? config.retryFirst().multipliedBy(2) : backOff(attempts);
        Instant now = clock.instant();
        String message = String.valueOf(failed.reason().getMessage());
        Operation operation = failed.operation()
                .failed(failed.step(), giveUp ? Operation.StepState.FAILED : Operation.StepState.WAITING, now, message);
        LOG.warnf(
                "operation %s (%s of %s): step %s failed (%s)%s",
                operation.id(),
                operation.kind(),
                operation.tenant(),
                failed.step(),
                message,
                giveUp ? "; giving up" : "");
        Operation.Failure error = new Operation.Failure(failed.step(), message, giveUp ? null : now.plus(wait));
        return finish(operation, giveUp ? Operation.State.FAILED : Operation.State.PENDING, error, attempts, wait);
    }

    private Uni<Void> finish(
            Operation operation,
            Operation.State state,
            Operation.@Nullable Failure error,
            int attempts,
            Duration wait) {
        return database.in(connection -> operations
                .release(connection, owner, operation, state, error, attempts, wait)
                .chain(kept -> state == Operation.State.FAILED && kept
                        ? handlerOf(operation).onGivenUp(connection, operation)
                        : Uni.createFrom().voidItem()));
    }

    private OperationHandler handlerOf(Operation operation) {
        return Optional.ofNullable(handlers.get(operation.kind())).orElseThrow();
    }

    private Uni<Void> save(Operation operation) {
        return database.on(connection -> operations.save(connection, owner, operation))
                .invoke(kept -> {
                    if (!kept) {
                        throw new LeaseLost();
                    }
                })
                .replaceWithVoid();
    }

    private Duration backOff(int attempts) {
        Duration wait = config.retryFirst().multipliedBy(1L << Math.min(attempts - 1, 20));
        return wait.compareTo(config.retryMost()) > 0 ? config.retryMost() : wait;
    }

    /** Signals that another process owns the operation now. */
    private static final class LeaseLost extends RuntimeException {
        private static final long serialVersionUID = 1L;

        LeaseLost() {
            super("another process owns it by now");
        }
    }

    private static final class StepFailed extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final String step;
        private final transient Operation operation;
        private final Throwable reason;

        StepFailed(String step, Operation operation, Throwable reason) {
            super(reason);
            this.step = step;
            this.operation = operation;
            this.reason = reason;
        }

        String step() {
            return step;
        }

        Operation operation() {
            return operation;
        }

        Throwable reason() {
            return reason;
        }
    }
}
