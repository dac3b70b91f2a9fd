package io.quartermaster.dispatch;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.distribution.HistogramSnapshot;
import io.micrometer.core.instrument.distribution.ValueAtPercentile;
import io.quarkus.redis.datasource.ReactiveRedisDataSource;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import io.quartermaster.dispatch.quarantine.FailureStreak;
import io.quartermaster.dispatch.quarantine.PoisonRowFinder;
import io.quartermaster.dispatch.read.DispatchConfig;
import io.quartermaster.dispatch.read.LeaderSettings;
import io.quartermaster.dispatch.transaction.Fence;
import io.quartermaster.platform.db.LeaderDatabase;
import io.quartermaster.platform.inbox.Wakeups;
import io.quartermaster.workloads.counters.LiveCounters;
import io.smallrye.mutiny.subscription.Cancellable;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The loop that leads a cell, on its own thread. Redis wakes it, or NOTIFY while Redis is down, or a stored deadline,
 * or the poll as the last resort. {@link LeaderTerm} defines how it continues after a failed cycle.
 */
@ApplicationScoped
public class Dispatcher {

    private static final Logger LOG = Logger.getLogger(Dispatcher.class);

    private static final Duration CLOCK_ALARM_INTERVAL = Duration.ofMinutes(1);

    private final DispatchConfig config;
    private final LeaderSettings settings;
    private final LeaderDatabase database;
    private final ReactiveRedisDataSource redis;
    private final Wakeups wakeups;
    private final PostCommitNotifier postCommitNotifier;
    private final LiveCounters liveCounters;
    private final LeaderTerm term;
    private final FailureStreak failureStreak;
    private static final double MEDIAN = 0.5;
    private static final double HIGH = 0.99;
    private static final Duration BETWEEN_CYCLE_TIMES = Duration.ofSeconds(10);

    private final Timer planTime;
    private long cycleTimesNanos = System.nanoTime() - BETWEEN_CYCLE_TIMES.toNanos();
    private final String name = "replica-" + UUID.randomUUID();

    private final Semaphore wakeupSignal = new Semaphore(0);
    private @Nullable Thread thread;
    private volatile boolean stopping;
    private volatile @Nullable Cancellable listening;
    private volatile OptionalLong epoch = OptionalLong.empty();
    private volatile int lockedWorkloads;
    private volatile int builds;

    // Used only by the loop's thread.
    private long clockAlarmNanos = System.nanoTime() - CLOCK_ALARM_INTERVAL.toNanos();

    Dispatcher(
            DispatchConfig config,
            LeaderDatabase database,
            ReactiveRedisDataSource redis,
            Wakeups wakeups,
            PostCommitNotifier postCommitNotifier,
            LiveCounters liveCounters,
            MeterRegistry metrics) {
        this.config = config;
        this.settings = LeaderSettings.of(config);
        this.database = database;
        this.redis = redis;
        this.wakeups = wakeups;
        this.postCommitNotifier = postCommitNotifier;
        this.liveCounters = liveCounters;
        this.term = new LeaderTerm(database, settings);
        this.failureStreak = new FailureStreak(PoisonRowFinder.maxSearchCycles(config.batch()), metrics);
        this.planTime = Timer.builder("quartermaster.dispatch.cycle")
                .description("one cycle of the leader with changes: read, plan, commit")
                .publishPercentiles(MEDIAN, HIGH)
                .register(metrics);
        FunctionCounter.builder("quartermaster.dispatch.rebuilds", this, dispatcher -> dispatcher.builds)
                .description("how often the leader built the engine from the tables")
                .register(metrics);
        Gauge.builder("quartermaster.dispatch.leads", this, dispatcher -> dispatcher.epoch.isPresent() ? 1 : 0)
                .description("1 while this replica leads its cell, else 0")
                .register(metrics);
        Gauge.builder("quartermaster.dispatch.locked.workloads", this, dispatcher -> dispatcher.lockedWorkloads)
                .description("workloads that the leader leaves out of its cycles for some seconds because another "
                        + "transaction has locked them")
                .register(metrics);
    }

    void start(@Observes StartupEvent event) {
        if (config.enabled()) {
            listening = redis.pubsub(String.class)
                    .subscribe(Wakeups.LEADER)
                    .onFailure()
                    .retry()
                    .withBackOff(Duration.ofMillis(200), Duration.ofSeconds(5))
                    .indefinitely()
                    .subscribe()
                    .with(message -> wake(), failure -> LOG.warn("Redis sends no wake-ups to the leader", failure));
            wakeups.onNotification(channel -> {
                if (channel.equals(Wakeups.LEADER)) {
                    wake();
                }
            });
            thread = Thread.ofPlatform().name("dispatcher").start(this::loop);
        } else {
            LOG.infof("this replica never leads cell %s: quartermaster.dispatch.enabled is false", config.cell());
        }
    }

    void stop(@Observes ShutdownEvent event) throws InterruptedException {
        stopping = true;
        Cancellable open = listening;
        if (open != null) {
            open.cancel();
        }
        wake();
        if (thread != null) {
            thread.join(config.commitTimeout().toMillis());
        }
    }

    /** The role of a replica in the cell. */
    enum Role {
        /** It leads the cell. */
        LEADS,
        /** It is ready to lead when no other replica does. */
        FOLLOWS,
        /** It never leads. */
        OFF
    }

    /** @param failedCycles how many of the latest cycles failed in a row */
    record Status(Role role, OptionalLong epoch, long failedCycles) {}

    /** The state of this replica's leadership. Any thread may call it. */
    Status status() {
        OptionalLong now = epoch;
        Role role = now.isPresent() ? Role.LEADS : config.enabled() ? Role.FOLLOWS : Role.OFF;
        return new Status(role, now, failureStreak.length());
    }

    /** Requests a cycle soon. */
    public void wake() {
        wakeupSignal.release();
    }

    private void loop() {
        while (!stopping) {
            Duration pause;
            try {
                pause = runCycle();
            } catch (RuntimeException | Error e) {
                LOG.errorf(e, "the leader's loop failed; it continues");
                pause = config.poll();
            }
            await(pause);
        }
        resign();
    }

    private void await(Duration pause) {
        if (pause.isZero()) {
            return;
        }
        try {
            long rest = Math.min(config.rest().toMillis(), pause.toMillis());
            TimeUnit.MILLISECONDS.sleep(rest);
            if (wakeupSignal.tryAcquire(pause.toMillis() - rest, TimeUnit.MILLISECONDS)) {
                wakeupSignal.drainPermits();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            stopping = true;
        }
    }

    /**
     * Runs one cycle: takes the leadership if no replica has it, then plans. Returns how long the loop may rest if
     * nothing wakes it.
     */
    private Duration runCycle() {
        if (epoch.isEmpty() && !tryLead()) {
            return config.poll();
        }
        long begunNanos = System.nanoTime();
        Timer.Sample sample = Timer.start();
        LeaderTerm.Result result = term.runCycle();
        builds = term.builds();
        lockedWorkloads = term.locked().size();
        return switch (result) {
            case LeaderTerm.Result.Planned(CellPlanner.Outcome outcome) -> {
                failureStreak.recordSuccess();
                if (outcome.inboxRows() > 0 || !outcome.plan().decisions().isEmpty()) {
                    sample.stop(planTime);
                }
                postCommitNotifier.wakeReaders(outcome.touchedNodes(), outcome.fedTenants());
                publishCycleTimes();
                term.planner()
                        .ifPresent(cellPlanner -> liveCounters.publish(
                                epoch.getAsLong(), outcome.stampMillis(), cellPlanner.counterTotals()));
                yield pauseAfter(outcome, begunNanos);
            }
            case LeaderTerm.Result.Applied(LifecyclePass.Outcome outcome) -> {
                if (outcome.steps() > 0) {
                    LOG.infof("applied reports and requests for %d workloads without making a plan", outcome.steps());
                }
                postCommitNotifier.wakeReaders(outcome.touchedNodes(), outcome.fedTenants());
                yield config.poll();
            }
            case LeaderTerm.Result.Repeated(String why) -> {
                LOG.infof("%s; the leader builds the engine again", why);
                yield Duration.ZERO;
            }
            case LeaderTerm.Result.Deposed() -> {
                LOG.warnf("another replica now leads cell %s; this replica steps down", config.cell());
                epoch = OptionalLong.empty();
                yield config.poll();
            }
            case LeaderTerm.Result.SteppedDown(String why) -> {
                LOG.errorf("ALARM: %s", why);
                resign();
                epoch = OptionalLong.empty();
                yield config.poll();
            }
            case LeaderTerm.Result.Failed(Throwable cause) -> {
                handleFailure(cause);
                // Reports do not wait for the next plan.
                yield term.appliesNext() ? Duration.ZERO : config.poll();
            }
        };
    }

    /** Stores the durations of cycles now and then, for replicas that do not lead. A failure has no effect on plans. */
    private void publishCycleTimes() {
        long now = System.nanoTime();
        if (planTime.count() == 0 || now - cycleTimesNanos < BETWEEN_CYCLE_TIMES.toNanos()) {
            return;
        }
        cycleTimesNanos = now;
        HistogramSnapshot times = planTime.takeSnapshot();
        try {
            database.run(
                    config.commitTimeout(),
                    tx -> tx.run(
                            "update cell set cycle_median_ms = $3, cycle_p99_ms = $4, cycle_times_at = clock_timestamp() "
                                    + "where id = $1 and epoch = $2",
                            config.cell(),
                            epoch.orElse(0),
                            millis(times, MEDIAN),
                            millis(times, HIGH)));
        } catch (RuntimeException e) {
            LOG.debugf(e, "the durations of the leader's cycles were not stored");
        }
    }

    private static long millis(HistogramSnapshot times, double percentile) {
        for (ValueAtPercentile value : times.percentileValues()) {
            if (value.percentile() == percentile) {
                return Math.round(value.value(TimeUnit.MILLISECONDS));
            }
        }
        return 0;
    }

    private void handleFailure(Throwable cause) {
        LOG.errorf(cause, "a cycle of the leader failed; the leader builds the engine again");
        if (failureStreak.recordFailure()) {
            LOG.errorf(
                    "ALARM: %d cycles of the leader of cell %s failed in a row. No inbox row, workload or tenant is "
                            + "the cause; it is the database, or other stored state. "
                            + "The leader plans nothing until the cause is fixed: %s",
                    failureStreak.length(), config.cell(), cause.getMessage());
        }
    }

    /** Becomes the leader if no replica leads and the clocks allow it. */
    private boolean tryLead() {
        Optional<Long> won;
        try {
            won = database.run(settings.bounds(), tx -> {
                Optional<String> obstacle = CellClock.read(tx, config.cell()).obstacle(config.clockTolerance());
                if (obstacle.isPresent()) {
                    raiseClockAlarm(obstacle.get());
                    return Optional.empty();
                }
                return Fence.acquire(tx, config.cell(), name, config.lease());
            });
        } catch (RuntimeException e) {
            LOG.warnf("could not determine which replica leads cell %s: %s", config.cell(), e.getMessage());
            return false;
        }
        won.ifPresent(begun -> {
            epoch = OptionalLong.of(begun);
            term.begin(begun);
            LOG.infof("this replica leads cell %s, epoch %d", config.cell(), begun);
        });
        return won.isPresent();
    }

    private void raiseClockAlarm(String obstacle) {
        long now = System.nanoTime();
        if (now - clockAlarmNanos >= CLOCK_ALARM_INTERVAL.toNanos()) {
            clockAlarmNanos = now;
            LOG.errorf("ALARM: %s", obstacle);
        }
    }

    /** The time until the next plan is due. It is computed from the stamp alone, so that no other clock matters. */
    private Duration pauseAfter(CellPlanner.Outcome outcome, long begunNanos) {
        if (outcome.more()) {
            return Duration.ZERO;
        }
        long millis = config.poll().toMillis();
        if (outcome.nextPlanMillis().isPresent()) {
            long elapsed = Duration.ofNanos(System.nanoTime() - begunNanos).toMillis();
            millis = Math.min(millis, outcome.nextPlanMillis().getAsLong() - outcome.stampMillis() - elapsed);
        }
        return Duration.ofMillis(Math.max(1, millis));
    }

    private void resign() {
        OptionalLong led = epoch;
        if (led.isPresent()) {
            try {
                database.run(config.commitTimeout(), tx -> {
                    Fence.resign(tx, config.cell(), led.getAsLong());
                    return true;
                });
            } catch (RuntimeException e) {
                LOG.debugf("could not resign the leadership; the lease expires by itself: %s", e.getMessage());
            }
        }
    }
}
