package io.quartermaster.dispatch;

import io.quartermaster.dispatch.quarantine.PoisonRowFinder;
import io.quartermaster.dispatch.read.CapacityFacts;
import io.quartermaster.dispatch.read.LeaderSettings;
import io.quartermaster.dispatch.transaction.Fence;
import io.quartermaster.engine.Engine;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.platform.db.SystemDatabase;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** A cell that the test leads, one cycle at a time. So other commits fall exactly between two steps of the leader. */
public final class HandLedCell implements AutoCloseable {

    private static final long PAUSED_FOR_MILLIS = 3_600_000;
    private static final String CELL = "main";
    private static final Duration LEASE = Duration.ofMinutes(10);
    private static final int MOST_CYCLES = 50;
    public static final int BATCH = 1_000;
    private static final PoisonRowFinder.Selection ALL = new PoisonRowFinder.Selection.Oldest(BATCH, true);

    private final SystemDatabase database;
    private final long epoch;
    private final Settings settings;
    private @Nullable CellPlanner cellPlanner;

    private HandLedCell(SystemDatabase database, long epoch, Settings settings) {
        this.database = database;
        this.epoch = epoch;
        this.settings = settings;
    }

    /** Takes the leadership as soon as the leader of earlier tests has resigned. */
    public static HandLedCell lead(SystemDatabase database) {
        return lead(database, settings());
    }

    static HandLedCell lead(SystemDatabase database, Settings settings) {
        Optional<Long> epoch = Awaitility.await()
                .atMost(Duration.ofSeconds(30))
                .until(
                        () -> database.run(CellRows.TIMEOUT, tx -> Fence.acquire(tx, CELL, "by hand", LEASE)),
                        Optional::isPresent);
        // The contract tests put rows into the quarantine that no leader can read; they do not belong to this cell.
        database.run(CellRows.TIMEOUT, tx -> tx.run("delete from inbox where ref = 'contract'"));
        return new HandLedCell(database, epoch.orElseThrow(), settings);
    }

    public long epoch() {
        return epoch;
    }

    /** Discards the engine, as any failure does. */
    void rebuild() {
        cellPlanner = null;
    }

    CellPlanner.Outcome cycle() {
        return cycle(ALL, () -> {});
    }

    /** @param meanwhile commits of others after the engine has all changes and before it plans */
    CellPlanner.Outcome cycle(PoisonRowFinder.Selection selection, Runnable meanwhile) {
        return database.run(CellRows.TIMEOUT, tx -> {
            Fence fence = Fence.renew(tx, CELL, epoch, LEASE).orElseThrow();
            CellPlanner leading = cellPlanner == null
                    ? CellPlanner.build(tx, fence, leaderSettings(settings), Set.of())
                    : cellPlanner;
            cellPlanner = leading;
            meanwhile.run();
            return leading.cycle(tx, fence, InboxBatch.read(tx, CELL, selection, Set.of()), selection);
        });
    }

    /** Runs cycles until there is no more work. */
    public void settle() {
        for (int i = 0; i < MOST_CYCLES; i++) {
            CellPlanner.Outcome outcome = cycle();
            if (outcome.inboxRows() == 0 && outcome.plan().decisions().isEmpty() && !outcome.more()) {
                return;
            }
        }
        throw new AssertionError("not settled after " + MOST_CYCLES + " cycles");
    }

    static LeaderSettings leaderSettings(Settings engine) {
        return leaderSettings(engine, BATCH);
    }

    public static LeaderSettings leaderSettings(Settings engine, int batch) {
        return new LeaderSettings(
                CELL,
                LEASE,
                new SystemDatabase.Bounds(CellRows.TIMEOUT, CellRows.TIMEOUT.multipliedBy(2), Duration.ofMillis(300)),
                Duration.ofSeconds(5),
                batch,
                500,
                PAUSED_FOR_MILLIS,
                engine,
                CapacityFacts.Executors.AGENTS,
                Engine::plan);
    }

    private static Settings settings() {
        return Settings.DEFAULT.toBuilder()
                .patienceMillis(OptionalLong.of(Duration.ofMinutes(10).toMillis()))
                .settings();
    }

    @Override
    public void close() {
        database.run(CellRows.TIMEOUT, tx -> {
            Fence.resign(tx, CELL, epoch);
            return true;
        });
    }
}
