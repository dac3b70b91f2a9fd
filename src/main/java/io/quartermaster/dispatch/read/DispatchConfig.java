package io.quartermaster.dispatch.read;

import io.quartermaster.engine.model.Settings;
import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;
import java.util.Optional;

/** How a replica leads its cell. */
@ConfigMapping(prefix = "quartermaster.dispatch")
public interface DispatchConfig {

    /** The cell this replica may lead. */
    @WithDefault("main")
    String cell();

    /** Whether this replica leads at all; replicas that do not only serve the API. */
    @WithDefault("true")
    boolean enabled();

    /** How long a leader that says nothing more still leads; another replica takes over after it. */
    @WithDefault("10s")
    Duration lease();

    /** Bound on each statement of the leader. */
    @WithDefault("5s")
    Duration commitTimeout();

    /** Bound on a turn of the leader as a whole, from its first statement to its commit. Must be shorter than the lease, so that no leader commits after it. */
    @WithDefault("8s")
    Duration turnTimeout();

    /** How long a turn waits for a row that another transaction has locked. Then the turns of the next seconds leave that workload out. */
    @WithDefault("1s")
    Duration lockTimeout();

    /** The poll behind the wake-ups: how long a lost wake-up may delay a plan, and how often nodes' leases are looked at. */
    @WithDefault("1s")
    Duration poll();

    /** The leader rests for this long after each turn: under load the next then finds more at once, which costs less for each. */
    @WithDefault("10ms")
    Duration rest();

    /** Inbox rows taken into one plan. */
    @WithDefault("1000")
    int batch();

    /** Reasons of waiting work written with one plan; the rest follows with the next. */
    @WithDefault("500")
    int reasonsPerPlan();

    /** How far the stamp may be off this replica's own clock before it steps down. */
    @WithDefault("5s")
    Duration clockTolerance();

    /** A running workload younger than this is no victim, nor is it moved. */
    @WithDefault("0s")
    Duration minRuntime();

    /**
     * What work of several pools tries first where it could have its own back in one and borrow in another: {@code before-reclaiming}, it borrows, and
     * nobody is stopped; {@code after-reclaiming}, it takes back what is reserved for it, and is not the first to give way then.
     */
    @WithDefault("before-reclaiming")
    Settings.Borrow borrow();

    /**
     * How long work waits that is blocked only by fit before it gets a backfill reservation: GPUs that come free are kept for it. Work that
     * started from such a reservation is not reclaimed by the right of fair share for as long.
     */
    @WithDefault("10m")
    Duration patience();

    /** The most backfill reservations that one plan makes. */
    @WithDefault("64")
    int backfillReservations();

    /** How long paused work waits to go on where it is; after that its processes are ended, and it starts from the beginning wherever there is room. */
    @WithDefault("1h")
    Duration pausedFor();

    /**
     * Fair shares follow what was used before, of which this is the half-life: two groups that each want everything take turns. Without it
     * only the present counts.
     */
    Optional<Duration> fairnessWindow();

    /**
     * What starts counts in what was used before as if it had run for so long already, so that many short jobs do not pass before anybody
     * notices. Needs a fairness window.
     */
    @WithDefault("0s")
    Duration entryPenalty();

    /**
     * Whether work starts in a pool that is a plain count, although no executor runs it there: it is bound and metered, and nothing happens. For
     * load runs and tests only. Without it such work waits with the reason {@code NO_EXECUTOR}.
     */
    @WithDefault("false")
    boolean simulateCountedPools();

    /** How often waiting work, GPUs and agents are counted for the metrics. */
    @WithDefault("10s")
    Duration gaugesInterval();
}
