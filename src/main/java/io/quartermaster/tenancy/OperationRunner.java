package io.quartermaster.tenancy;

import io.quarkus.arc.All;
import io.quarkus.scheduler.Scheduled;
import io.quartermaster.access.KeycloakFailure;
import io.quartermaster.platform.SystemDatabase;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jboss.logging.Logger;

/**
 * Works on operations: step after step, each state stored before the next begins, so that a crash at any line costs at most one step done
 * twice. A process owns what it works on for a short lease that it keeps renewing; when it dies, another takes over where it was. A step
 * that fails is tried again, ever less often.
 */
@ApplicationScoped
public class OperationRunner {

    static final int SIDE_BY_SIDE = 4;
    private static final Logger LOG = Logger.getLogger(OperationRunner.class);

    private final SystemDatabase database;
    private final OperationStore operations;
    private final TenantStore tenants;
    private final TenancyConfig config;
    private final List<ProvisioningStep> steps;
    private final Clock clock = Clock.systemUTC();
    private final String me = UUID.randomUUID().toString();
    private final Set<UUID> mine = ConcurrentHashMap.newKeySet();

    OperationRunner(
            SystemDatabase database,
            OperationStore operations,
            TenantStore tenants,
            TenancyConfig config,
            @All List<ProvisioningStep> steps) {
        this.database = database;
        this.operations = operations;
        this.tenants = tenants;
        this.config = config;
        this.steps = steps.stream()
                .sorted(Comparator.comparingInt(ProvisioningStep::order).thenComparing(ProvisioningStep::name))
                .toList();
        if (this.steps.stream().map(ProvisioningStep::name).distinct().count() != steps.size()) {
            throw new IllegalStateException("two provisioning steps have one name");
        }
    }

    List<Operation.Step> pendingSteps() {
        return steps.stream().map(step -> Operation.Step.pending(step.name())).toList();
    }

    @Scheduled(
            every = "${quartermaster.tenancy.operation-poll:1S}",
            concurrentExecution = Scheduled.ConcurrentExecution.SKIP)
    Uni<Void> poll() {
        return renew().chain(this::takeMore)
                .onFailure()
                .invoke(e -> LOG.warnf("operations could not be looked for: %s", e.getMessage()))
                .onFailure()
                .recoverWithNull();
    }

    private Uni<Void> renew() {
        return mine.isEmpty()
                ? Uni.createFrom().voidItem()
                : database.on(connection -> operations.renew(connection, me, mine, config.operationLease()));
    }

    private Uni<Void> takeMore() {
        if (mine.size() >= SIDE_BY_SIDE) {
            return Uni.createFrom().voidItem();
        }
        return database.on(connection -> operations.claim(connection, me, config.operationLease()))
                .chain(found -> {
                    if (found.isEmpty()) {
                        return Uni.createFrom().voidItem();
                    }
                    begin(found.get());
                    return takeMore();
                });
    }

    /** Goes on beside the poll, which meanwhile renews the lease. */
    private void begin(OperationStore.Claim claim) {
        UUID id = claim.operation().id();
        mine.add(id);
        work(claim)
                .onTermination()
                .invoke(() -> mine.remove(id))
                .subscribe()
                .with(done -> {}, failure -> LOG.warnf("operation %s stops here: %s", id, failure.getMessage()));
    }

    private Uni<Void> work(OperationStore.Claim claim) {
        Uni<Operation> progress = Uni.createFrom().item(claim.operation());
        for (ProvisioningStep step : steps) {
            progress = progress.chain(operation ->
                    operation.isDone(step.name()) ? Uni.createFrom().item(operation) : run(step, operation, claim));
        }
        return progress.chain(operation -> finish(operation, Operation.State.SUCCEEDED, null, 0, Duration.ZERO))
                .onFailure(StepFailed.class)
                .recoverWithUni(failure -> tryLater((StepFailed) failure, claim));
    }

    private Uni<Operation> run(ProvisioningStep step, Operation operation, OperationStore.Claim claim) {
        Operation started = operation.started(step.name(), clock.instant());
        return save(started)
                .chain(() -> step.apply(claim.spec()))
                .onFailure(failure -> !(failure instanceof Lost))
                .transform(failure -> new StepFailed(step.name(), started, failure))
                .chain(() -> {
                    Operation done = started.succeeded(step.name(), clock.instant());
                    return save(done).replaceWith(done);
                });
    }

    private Uni<Void> tryLater(StepFailed failed, OperationStore.Claim claim) {
        boolean away = failed.reason() instanceof KeycloakFailure failure && failure.isAway();
        int attempts = failed.operation().attempts() + (away ? 0 : 1);
        boolean giveUp = attempts > config.retries();
        Duration wait = away ? config.retryFirst().multipliedBy(2) : backOff(attempts);
        Instant now = clock.instant();
        String message = String.valueOf(failed.reason().getMessage());
        Operation operation = failed.operation()
                .failed(failed.step(), giveUp ? Operation.StepState.FAILED : Operation.StepState.WAITING, now, message);
        LOG.warnf(
                "operation %s of tenant %s: step %s failed (%s)%s",
                operation.id(), operation.tenant(), failed.step(), message, giveUp ? "; giving up" : "");
        Operation.Failure error = new Operation.Failure(failed.step(), message, giveUp ? null : now.plus(wait));
        return finish(operation, giveUp ? Operation.State.FAILED : Operation.State.PENDING, error, attempts, wait);
    }

    private Uni<Void> finish(
            Operation operation,
            Operation.State state,
            Operation.@org.jspecify.annotations.Nullable Failure error,
            int attempts,
            Duration wait) {
        return database.in(connection -> operations
                        .release(connection, me, operation, state, error, attempts, wait)
                        .chain(kept -> state == Operation.State.FAILED && kept
                                ? tenants.move(
                                        connection, operation.tenant(), TenantState.PROVISIONING, TenantState.FAILED)
                                : Uni.createFrom().item(kept)))
                .replaceWithVoid();
    }

    private Uni<Void> save(Operation operation) {
        return database.on(connection -> operations.save(connection, me, operation))
                .invoke(kept -> {
                    if (!kept) {
                        throw new Lost();
                    }
                })
                .replaceWithVoid();
    }

    private Duration backOff(int attempts) {
        Duration wait = config.retryFirst().multipliedBy(1L << Math.min(attempts - 1, 20));
        return wait.compareTo(config.retryMost()) > 0 ? config.retryMost() : wait;
    }

    /** Another process works on it now. */
    private static final class Lost extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Lost() {
            super("it is another process's by now");
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
