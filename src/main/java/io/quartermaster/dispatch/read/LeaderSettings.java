package io.quartermaster.dispatch.read;

import io.quartermaster.dispatch.read.CapacityFacts.Executors;
import io.quartermaster.dispatch.transaction.ClockSkewException;
import io.quartermaster.dispatch.transaction.Fence;
import io.quartermaster.engine.Engine;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.db.SystemTransaction;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * The settings of a cell's leader.
 *
 * @param lease how long it leads after its last fence
 * @param bounds the time limits of each transaction; the limit of the whole is shorter than the lease
 * @param clockTolerance how far the stamp may be off this replica's own clock
 * @param batch the most inbox rows in one plan
 * @param reasonsPerPlan the most reasons for waiting that one plan writes
 * @param pausedForMillis how long paused processes wait to resume
 */
public record LeaderSettings(
        String cell,
        Duration lease,
        SystemDatabase.Bounds bounds,
        Duration clockTolerance,
        int batch,
        int reasonsPerPlan,
        long pausedForMillis,
        Settings engine,
        Executors executors,
        PlanComputation planning) {

    public LeaderSettings {
        if (bounds.whole().compareTo(lease) >= 0) {
            throw new IllegalArgumentException("quartermaster.dispatch.cycle-timeout is " + bounds.whole()
                    + " and must be shorter than quartermaster.dispatch.lease, which is " + lease
                    + ": a leader must never commit after its lease");
        }
    }

    public static LeaderSettings of(DispatchConfig config) {
        return new LeaderSettings(
                config.cell(),
                config.lease(),
                new SystemDatabase.Bounds(config.commitTimeout(), config.cycleTimeout(), config.lockTimeout()),
                config.clockTolerance(),
                config.batch(),
                config.reasonsPerPlan(),
                config.pausedFor().toMillis(),
                EngineSettings.of(config),
                Executors.of(config),
                Engine::plan);
    }

    public LeaderSettings with(PlanComputation other) {
        return new LeaderSettings(
                cell, lease, bounds, clockTolerance, batch, reasonsPerPlan, pausedForMillis, engine, executors, other);
    }

    /**
     * Takes the fence; empty if another replica leads. Throws {@link ClockSkewException}, because usage must not be
     * billed by a wrong clock.
     */
    public Optional<Fence> fence(SystemTransaction transaction, long epoch) {
        return Fence.renew(transaction, cell, epoch, lease).map(this::checked);
    }

    /**
     * Takes the stamp again, after the transaction has read the reports that it applies. Throws
     * {@link ClockSkewException} as {@link #fence} does.
     */
    public void advance(SystemTransaction transaction, Fence fence) {
        fence.advance(transaction, cell);
        checked(fence);
    }

    private Fence checked(Fence fence) {
        Duration off =
                Duration.between(fence.stamp().toInstant(), Instant.now()).abs();
        if (off.compareTo(clockTolerance) > 0) {
            throw new ClockSkewException(
                    "the stamp of the cell and this replica's clock are " + off + " apart; this replica steps down");
        }
        return fence;
    }
}
