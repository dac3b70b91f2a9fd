package io.quartermaster.dispatch;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.quarkus.redis.datasource.ReactiveRedisDataSource;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import io.quartermaster.engine.Settings;
import io.quartermaster.platform.LeaderDatabase;
import io.quartermaster.platform.Wakeups;
import io.quartermaster.workloads.Counters;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The loop that leads a cell, on a thread of its own: woken by Redis, by NOTIFY when Redis is away, by a stored deadline, or by the poll
 * behind them all. One failure costs one cycle: the engine is thrown away, and the next cycle builds it again.
 *
 * <p>{@link #turn} is one turn of the loop; tests drive it by hand.
 */
@ApplicationScoped
public class Dispatcher {

    private static final Logger LOG = Logger.getLogger(Dispatcher.class);

    private static final int FAILURES_UNTIL_EXAMINED = 2;

    private final DispatchConfig config;
    private final Settings settings;
    private final LeaderDatabase database;
    private final ReactiveRedisDataSource redis;
    private final Announcements announcements;
    private final Counters counters;
    private final SetAside setAside;
    private final Suspicion suspicion;
    private final Examination examination;
    private final FailedTurns failedTurns;
    private final Timer planTime;
    private final Counter rebuilds;
    private final String name = "replica-" + UUID.randomUUID();

    private final Semaphore woken = new Semaphore(0);
    private @Nullable Thread thread;
    private volatile boolean stopping;

    // Of the loop's thread alone.
    private OptionalLong epoch = OptionalLong.empty();
    private @Nullable Leader leader;
    private int failuresWithoutRows;

    Dispatcher(
            DispatchConfig config,
            LeaderDatabase database,
            ReactiveRedisDataSource redis,
            Announcements announcements,
            Counters counters,
            MeterRegistry metrics) {
        this.config = config;
        this.settings = EngineSettings.of(config);
        this.database = database;
        this.redis = redis;
        this.announcements = announcements;
        this.counters = counters;
        this.setAside = new SetAside(database, config);
        this.suspicion = new Suspicion(config.batch());
        this.examination = new Examination(database, config);
        this.failedTurns = new FailedTurns(Suspicion.longestSearch(config.batch()), metrics);
        this.planTime = Timer.builder("quartermaster.dispatch.cycle")
                .description("one turn of the leader that changed something: read, plan, commit")
                .publishPercentiles(0.5, 0.99)
                .register(metrics);
        this.rebuilds = Counter.builder("quartermaster.dispatch.rebuilds")
                .description("how often the engine was built from the tables")
                .register(metrics);
    }

    void start(@Observes StartupEvent event) {
        if (config.enabled()) {
            redis.pubsub(String.class)
                    .subscribe(Wakeups.LEADER)
                    .onFailure()
                    .retry()
                    .withBackOff(Duration.ofMillis(200), Duration.ofSeconds(5))
                    .indefinitely()
                    .subscribe()
                    .with(message -> wake(), failure -> LOG.warn("no wake-ups by Redis", failure));
            thread = Thread.ofPlatform().name("dispatcher").start(this::loop);
        }
    }

    void stop(@Observes ShutdownEvent event) throws InterruptedException {
        stopping = true;
        wake();
        if (thread != null) {
            thread.join(config.commitTimeout().toMillis());
        }
    }

    /** Asks for a turn soon. */
    public void wake() {
        woken.release();
    }

    private void loop() {
        while (!stopping) {
            Duration pause = config.poll();
            try {
                pause = turn();
                failedTurns.oneWentWell();
                failuresWithoutRows = 0;
            } catch (Overtaken e) {
                LOG.infof("%s; the engine is built again", e.getMessage());
                leader = null;
                pause = Duration.ZERO;
            } catch (RuntimeException e) {
                LOG.errorf(e, "a turn of the leader failed; the engine is built again");
                leader = null;
                if (failedTurns.oneFailed()) {
                    LOG.errorf(
                            "ALARM: %d turns of the leader of cell %s failed in a row, and neither an inbox row nor a workload nor a tenant is to"
                                    + " blame: nothing is planned until the cause is gone; it is the database, or something that is"
                                    + " stored: %s",
                            failedTurns.inARow(), config.cell(), e.getMessage());
                }
                blame();
                examine();
            }
            await(pause);
        }
        resign();
    }

    private void blame() {
        suspicion.failed().ifPresent(id -> {
            if (epoch.isPresent() && setAside.row(epoch.getAsLong(), id)) {
                suspicion.wasSetAside();
            }
        });
    }

    /** When turns fail that took no inbox row, so that none can be to blame. */
    private void examine() {
        failuresWithoutRows += suspicion.tookRows() ? 0 : 1;
        if (failuresWithoutRows >= FAILURES_UNTIL_EXAMINED && epoch.isPresent()) {
            failuresWithoutRows = 0;
            examination.run(epoch.getAsLong());
        }
    }

    private void await(Duration pause) {
        if (pause.isZero()) {
            return;
        }
        try {
            long rest = Math.min(config.rest().toMillis(), pause.toMillis());
            TimeUnit.MILLISECONDS.sleep(rest);
            if (woken.tryAcquire(pause.toMillis() - rest, TimeUnit.MILLISECONDS)) {
                woken.drainPermits();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            stopping = true;
        }
    }

    /** One turn: lead if nobody does, then one cycle. Returns how long the loop may rest if nothing wakes it. */
    Duration turn() {
        if (epoch.isEmpty()) {
            Optional<Long> won = database.run(config.commitTimeout(), tx -> {
                Optional<Long> begun = Fence.lead(tx, config.cell(), name, config.lease());
                begun.flatMap(newer -> Fence.take(tx, config.cell(), newer, config.lease()))
                        .ifPresent(fence -> {
                            SetAsideTenants.takeBack(tx);
                            SetAsideWork.takeBack(tx, fence, config.cell());
                        });
                return begun;
            });
            if (won.isEmpty()) {
                return config.poll();
            }
            epoch = OptionalLong.of(won.get());
            leader = null;
            suspicion.lead();
            LOG.infof("leads cell %s, epoch %d", config.cell(), won.get());
        }
        Timer.Sample sample = Timer.start();
        Suspicion.Take take = suspicion.take();
        Optional<Leader.Outcome> outcome = database.run(config.commitTimeout(), tx -> {
            Optional<Fence> fence = Fence.take(tx, config.cell(), epoch.getAsLong(), config.lease());
            if (fence.isEmpty()) {
                return Optional.empty();
            }
            checkClock(fence.get());
            if (leader == null) {
                leader = Leader.build(
                        tx,
                        fence.get(),
                        config.cell(),
                        settings,
                        CapacityFacts.Executors.of(config),
                        config.reasonsPerPlan(),
                        config.pausedFor().toMillis());
                rebuilds.increment();
            }
            InboxBatch batch = InboxBatch.take(tx, config.cell(), take);
            suspicion.took(batch.ids(), leader.hasLeftovers(take, fence.get().stampMillis()));
            return Optional.of(leader.cycle(tx, fence.get(), batch, take));
        });
        if (outcome.isEmpty()) {
            LOG.warnf("another replica leads cell %s now; this one steps down", config.cell());
            epoch = OptionalLong.empty();
            leader = null;
            return config.poll();
        }
        suspicion.succeeded();
        if (outcome.get().inboxRows() > 0 || !outcome.get().plan().decisions().isEmpty()) {
            sample.stop(planTime);
        }
        announcements.after(outcome.get());
        if (leader != null) {
            counters.publish(epoch.getAsLong(), outcome.get().stampMillis(), leader.tally());
        }
        return rest(outcome.get());
    }

    private Duration rest(Leader.Outcome outcome) {
        if (outcome.more()) {
            return Duration.ZERO;
        }
        long millis = config.poll().toMillis();
        if (outcome.nextPlanMillis().isPresent()) {
            millis = Math.min(millis, outcome.nextPlanMillis().getAsLong() - System.currentTimeMillis());
        }
        return Duration.ofMillis(Math.max(1, millis));
    }

    /** A stamp far from this replica's own clock means that one of the two clocks is wrong: nobody may be billed by it. */
    private void checkClock(Fence fence) {
        Duration off =
                Duration.between(fence.stamp().toInstant(), Instant.now()).abs();
        if (off.compareTo(config.clockTolerance()) > 0) {
            epoch = OptionalLong.empty();
            throw new IllegalStateException(
                    "the database's stamp and this replica's clock are " + off + " apart; it steps down");
        }
    }

    private void resign() {
        if (epoch.isPresent()) {
            try {
                database.run(config.commitTimeout(), tx -> {
                    Fence.resign(tx, config.cell(), epoch.getAsLong());
                    return true;
                });
            } catch (RuntimeException e) {
                LOG.debugf("could not resign; the lease ends by itself: %s", e.getMessage());
            }
        }
    }
}
