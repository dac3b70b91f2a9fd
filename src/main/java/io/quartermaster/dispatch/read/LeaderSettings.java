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
 * How the leader of a cell works.
 *
 * @param lease how long it leads after its last fence
 * @param bounds of each of its transactions, the whole below the lease
 * @param clockTolerance how far the stamp may be off this replica's own clock
 * @param batch inbox rows taken into one plan
 * @param reasonsPerPlan reasons of waiting work written with one plan
 * @param pausedForMillis how long paused processes wait to go on
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
            throw new IllegalArgumentException("quartermaster.dispatch.turn-timeout is " + bounds.whole()
                    + " and must be shorter than quartermaster.dispatch.lease, which is " + lease
                    + ": a leader must never commit after its lease");
        }
    }

    public static LeaderSettings of(DispatchConfig config) {
        return new LeaderSettings(
                config.cell(),
                config.lease(),
                new SystemDatabase.Bounds(config.commitTimeout(), config.turnTimeout(), config.lockTimeout()),
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

    /** Takes the fence; empty when another replica leads. Throws {@link ClockSkewException}: nobody may be billed by a clock that is wrong. */
    public Optional<Fence> fence(SystemTransaction transaction, long epoch) {
        return Fence.renew(transaction, cell, epoch, lease).map(this::checked);
    }

    private Fence checked(Fence fence) {
        Duration off =
                Duration.between(fence.stamp().toInstant(), Instant.now()).abs();
        if (off.compareTo(clockTolerance) > 0) {
            throw new ClockSkewException(
                    "the stamp of the cell and this replica's clock are " + off + " apart; it steps down");
        }
        return fence;
    }
}
