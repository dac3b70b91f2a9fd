package io.quartermaster.dispatch.read;

import io.quartermaster.engine.model.Settings;
import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;
import java.util.Optional;

/** How a replica leads its cell. */
@ConfigMapping(prefix = "quartermaster.dispatch")
public interface DispatchConfig {

    /** The cell that this replica may lead. */
    @WithDefault("main")
    String cell();

    /** Whether this replica may lead. Replicas that may not lead only serve the API. */
    @WithDefault("true")
    boolean enabled();

    /** How long a leader's lease lasts without renewal. After it, another replica takes over. */
    @WithDefault("10s")
    Duration lease();

    /** The time limit of each statement of the leader. */
    @WithDefault("5s")
    Duration commitTimeout();

    /**
     * The time limit of a whole scheduling cycle, from its first statement to its commit. Must be shorter than the
     * lease, so that no leader commits after its lease.
     */
    @WithDefault("8s")
    Duration cycleTimeout();

    /**
     * How long a cycle waits for a row that another transaction has locked. After that, the cycles of the next seconds
     * leave the workload out.
     */
    @WithDefault("1s")
    Duration lockTimeout();

    /**
     * The interval of the poll behind the wake-ups: the longest delay that a lost wake-up causes. Each poll also checks
     * the leases of nodes.
     */
    @WithDefault("1s")
    Duration poll();

    /**
     * How long the leader rests after each cycle. Under load, the next cycle then takes more rows together, which costs
     * less per row.
     */
    @WithDefault("10ms")
    Duration rest();

    /** The most inbox rows that one plan takes. */
    @WithDefault("1000")
    int batch();

    /** The most reasons for waiting that one plan writes. The next plans write the others. */
    @WithDefault("500")
    int reasonsPerPlan();

    /**
     * The largest difference between this replica's clock and the database's, and the most by which the stamp may be
     * ahead of the database's clock. Beyond either, the replica does not lead, or steps down.
     */
    @WithDefault("5s")
    Duration clockTolerance();

    /** The shortest run time of a victim: younger workloads are neither stopped nor moved. */
    @WithDefault("0s")
    Duration minRuntime();

    /**
     * The order of borrowing and reclaiming, for a workload with several pools that could borrow in one pool and
     * reclaim its group's share in another. With {@code before-reclaiming} it borrows, and no workload is stopped. With
     * {@code after-reclaiming} it reclaims the share, and is then not among the first to be preempted.
     */
    @WithDefault("before-reclaiming")
    Settings.Borrow borrow();

    /**
     * How long a workload that only lacks fitting GPUs waits before it gets a backfill reservation, which keeps freed
     * GPUs for it. For this long, fair share does not reclaim a workload that started from such a reservation.
     */
    @WithDefault("10m")
    Duration patience();

    /** The most backfill reservations that one plan makes. */
    @WithDefault("64")
    int backfillReservations();

    /**
     * How long paused processes wait to resume on their node. After that they are ended, and the workload starts from
     * the beginning wherever there is room.
     */
    @WithDefault("1h")
    Duration pausedFor();

    /**
     * The half-life of past use in fair shares: with it, two groups that each want everything alternate. Without it,
     * only the present use counts.
     */
    Optional<Duration> fairnessWindow();

    /**
     * The run time that each start adds to past use in advance, so that many short jobs do not escape the fair share.
     * Needs a fairness window.
     */
    @WithDefault("0s")
    Duration entryPenalty();

    /**
     * Whether workloads start in a pool that is a plain count, although no executor runs them: they are bound and
     * metered, and nothing else happens. For load runs and tests only. Without it, such workloads wait with the reason
     * {@code NO_EXECUTOR}.
     */
    @WithDefault("false")
    boolean simulateCountedPools();

    /** How often the gauges of waiting workloads, GPUs and agents are measured. */
    @WithDefault("10s")
    Duration gaugesInterval();
}
