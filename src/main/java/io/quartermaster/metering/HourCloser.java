package io.quartermaster.metering;

import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import io.quartermaster.ledger.Book;
import io.quartermaster.ledger.BookState;
import io.quartermaster.ledger.PostingResult;
import io.quartermaster.ledger.TenantKey;
import io.quartermaster.ledger.UsageEvent;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.db.SystemTransaction;
import io.vertx.mutiny.sqlclient.Row;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Closes the hours of every tenant, on threads of its own: it turns events into permanent segments.
 *
 * <p>An hour may close when no further event can affect it. New events carry the cell's stamp or a later one, so the
 * stamp must have reached the hour's end. Two types of events reach back. The first is the loss of a node, which
 * reaches back to its last contact; the second is the end of work. Neither reaches back beyond the last contact before
 * its report. So each node must have been in contact since the hour's end, or be given up. The third condition: all
 * reports about the tenant's work, by the nodes of an attempt or on behalf of a lost node, must be among the events. An
 * attempt with such a report must have ended.
 *
 * <p>One transaction closes whole hours of one tenant ({@link HourClosing}), so a crash leaves no partial result.
 * Several tenants are closed side by side. Replicas take turns by an advisory lock for the tenant. If two ever run
 * together, the key of {@code closed_hour} lets only one commit.
 */
@ApplicationScoped
public class HourCloser {

    private static final Logger LOG = Logger.getLogger(HourCloser.class);

    private static final long HOUR_MILLIS = BookState.HOUR_MILLIS;

    /** How long a round sums up hours of an earlier version at most. */
    private static final Duration MAX_SUMMING_TIME = Duration.ofSeconds(10);

    /** How long PostgreSQL may read the rows of an earlier month that is attached. */
    private static final Duration ATTACH_TIMEOUT = Duration.ofMinutes(10);

    /** The pause after an attempt to attach earlier months, each of which reads their rows. */
    private static final Duration ATTACH_RETRY = Duration.ofMinutes(5);

    private final MeteringConfig config;
    private final SystemDatabase database;
    private final LedgerLag lag;
    private final CountDownLatch stop = new CountDownLatch(1);
    private @Nullable Thread thread;

    /** Used by the thread of the loop alone. */
    private long nextAttachNanos = System.nanoTime();

    HourCloser(MeteringConfig config, SystemDatabase database, LedgerLag lag) {
        this.config = config;
        this.database = database;
        this.lag = lag;
    }

    void start(@Observes StartupEvent event) {
        thread = Thread.ofPlatform().name("closing").start(this::loop);
    }

    void stop(@Observes ShutdownEvent event) throws InterruptedException {
        stop.countDown();
        if (thread != null) {
            thread.join(config.statementTimeout().toMillis());
        }
    }

    private void loop() {
        try {
            while (!stop.await(config.closingInterval().toMillis(), TimeUnit.MILLISECONDS)) {
                // A replica that closes nothing measures too, so that an alert fires when no replica closes. Before the
                // closing, because a long backlog must show while it is being closed.
                lag.measure();
                if (config.closing()) {
                    closeAndLog();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void closeAndLog() {
        try {
            closeDue();
            attachMonth();
            addMissingSums();
        } catch (RuntimeException | Error e) {
            LOG.error("closing hours failed; the service tries again", e);
        }
    }

    /**
     * Closes every hour of every tenant that can close now; tests call it instead of waiting. Returns the number of
     * hours that it closed.
     */
    public int closeDue() {
        makePartitions();
        List<TenantKey> due = tenantsDue();
        if (due.isEmpty()) {
            lag.setStuckTenants(0);
            return 0;
        }
        AtomicInteger closed = new AtomicInteger();
        AtomicInteger stuck = new AtomicInteger();
        try (ExecutorService threads = Executors.newFixedThreadPool(
                Math.min(due.size(), config.closingTenants()),
                Thread.ofPlatform().name("closing-", 1).factory())) {
            for (TenantKey tenant : due) {
                threads.execute(() -> closeDueOf(tenant, closed, stuck));
            }
        }
        lag.setStuckTenants(stuck.get());
        return closed.get();
    }

    /** If this fails, only hours of months without a partition stay open. */
    private void makePartitions() {
        try {
            database.run(config.statementTimeout(), tx -> tx.run("select make_segment_partitions()"));
        } catch (RuntimeException e) {
            LOG.error("making the partitions of the next months failed; the service tries again", e);
        }
    }

    /**
     * Attaches a month that was detached or restored, if there is one. After the closing, because PostgreSQL reads all
     * rows of such a month.
     */
    void attachMonth() {
        try {
            List<String> missing = missingMonths();
            lag.setMissingMonths(missing.size());
            if (missing.isEmpty() || System.nanoTime() - nextAttachNanos < 0) {
                return;
            }
            boolean attached = false;
            try {
                attached = database.run(
                        ATTACH_TIMEOUT,
                        tx -> tx.run("select attach_segment_months() as attached")
                                        .iterator()
                                        .next()
                                        .getInteger("attached")
                                == 1);
            } finally {
                nextAttachNanos = System.nanoTime() + (attached ? 0 : ATTACH_RETRY.toNanos());
            }
            missing = missingMonths();
            lag.setMissingMonths(missing.size());
            if (!attached && !missing.isEmpty()) {
                LOG.errorf(
                        "these months cannot be attached to the segments: %s; the log of PostgreSQL says why", missing);
            }
        } catch (RuntimeException e) {
            LOG.error("attaching a month of closed usage failed; the service tries again", e);
        }
    }

    private List<String> missingMonths() {
        return database.run(config.statementTimeout(), tx -> {
            List<String> names = new ArrayList<>();
            tx.run("select missing_segment_months() as name").forEach(row -> names.add(row.getString("name")));
            return names;
        });
    }

    /** Sums up hours that an earlier version closed, for a while, so that hours that are due do not wait for it. */
    void addMissingSums() {
        long begun = System.nanoTime();
        int summed = -1;
        while (stop.getCount() > 0 && summed != 0 && System.nanoTime() - begun < MAX_SUMMING_TIME.toNanos()) {
            summed = database.run(config.statementTimeout(), HourSums::addMissing);
        }
    }

    private void closeDueOf(TenantKey tenant, AtomicInteger closed, AtomicInteger stuck) {
        boolean hourByHour = false;
        int hours = -1;
        while (stop.getCount() > 0 && hours != 0) {
            try {
                hours = closeBatch(tenant, hourByHour);
                closed.addAndGet(hours);
            } catch (RuntimeException | Error e) {
                if (hourByHour) {
                    stuck.incrementAndGet();
                    LOG.errorf(e, "closing the next hour of tenant %s failed; the hour stays open", tenant);
                    return;
                }
                LOG.debugf(e, "closing hours of tenant %s together failed; each is closed alone", tenant);
                hourByHour = true;
            }
        }
    }

    /**
     * The tenants whose next hour is over by the stamps of the cells, or whose first may be. The other conditions are
     * checked one by one. Ordered by the columns of {@code usage_event_hour}, because by {@code seq} PostgreSQL may
     * look through the events of all tenants for one that has none.
     */
    private List<TenantKey> tenantsDue() {
        return database.run(config.statementTimeout(), tx -> {
            List<TenantKey> tenants = new ArrayList<>();
            for (Row row : tx.run("""
                    select t.id
                      from tenant t
                      left join lateral (select hour_ms from closed_hour h where h.tenant_id = t.id
                          order by hour_ms desc limit 1) c on true
                     where case when c.hour_ms is null
                           then (select seq from usage_event e where e.tenant_id = t.id
                                  order by least(at_ms, since_ms) limit 1) is not null
                           else c.hour_ms + $1 <= (select floor(extract(epoch from min(stamp)) * 1000) from cell) end
                     order by t.id
                    """, HOUR_MILLIS)) {
                tenants.add(new TenantKey(row.getString("id")));
            }
            return tenants;
        });
    }

    /** Closes some of the hours that can close, in one transaction; returns how many. */
    private int closeBatch(TenantKey tenant, boolean onlyOne) {
        return database.run(config.statementTimeout(), tx -> {
            if (!tryLockTenant(tx, tenant)) {
                return 0;
            }
            // Before the events are read: the events then include all before this instant.
            long until = closableUntilMillis(tx, tenant);
            Optional<Long> firstEnd = nextHourEnd(tx, tenant);
            if (firstEnd.isEmpty() || firstEnd.get() > until) {
                return 0;
            }
            ClosedHours.HourEnd last =
                    ClosedHours.last(UsageQuery.of(tx), tenant).await().indefinitely();
            long lastEnd = onlyOne ? firstEnd.get() : until - until % HOUR_MILLIS;
            int hours = new HourClosing(tx, tenant, last, lastEnd).close(firstEnd.get());
            LOG.debugf("tenant %s: closed %d hours from the one until %d on", tenant, hours, firstEnd.get());
            return hours;
        });
    }

    private static boolean tryLockTenant(SystemTransaction tx, TenantKey tenant) {
        return tx.run(
                        "select pg_try_advisory_xact_lock(hashtextextended('quartermaster closing ' || $1, 0)) as mine",
                        tenant.value())
                .iterator()
                .next()
                .getBoolean("mine");
    }

    /** The first hour begins with the first event: there is no usage before it. */
    private static Optional<Long> nextHourEnd(SystemTransaction tx, TenantKey tenant) {
        Row row = tx.run("""
                select (select max(hour_ms) from closed_hour where tenant_id = $1) as last,
                       (select at_ms from usage_event where tenant_id = $1 order by seq limit 1) as first
                """, tenant.value()).iterator().next();
        @Nullable Long last = row.getLong("last");
        @Nullable Long first = row.getLong("first");
        if (last != null) {
            return Optional.of(last + HOUR_MILLIS);
        }
        return first == null ? Optional.empty() : Optional.of(first - first % HOUR_MILLIS + HOUR_MILLIS);
    }

    /**
     * The instant before which no event can happen any more. One statement, hence one snapshot: a commit gives a node
     * up, and the later read of the events sees that commit too.
     */
    private static long closableUntilMillis(SystemTransaction tx, TenantKey tenant) {
        return tx.run("""
                        select least((select floor(extract(epoch from min(stamp)) * 1000) from cell),
                                     (select floor(extract(epoch from min(last_heard)) * 1000)
                                         from node_contact where lost_at is null),
                                     (select floor(extract(epoch from min(least(r.silent_since, case when not exists (
                                                 select 1 from allocation_device d where d.tenant_id = a.tenant_id and d.attempt_id = a.id and not exists (
                                                     select 1 from report o where o.tenant_id = d.tenant_id
                                                         and o.attempt_id = d.attempt_id
                                                        and o.node_id = d.node_id and o.work_ended_at is not null)) then r.work_ended_at end))) * 1000)
                                        from attempt a join report r on r.tenant_id = a.tenant_id
                                            and r.attempt_id = a.id
                                       where a.tenant_id = $1 and a.state <> 'ended'))::bigint as until_ms
                        """, tenant.value()).iterator().next().getLong("until_ms");
    }

    public static void applyOrThrow(Book book, UsageEvent event) {
        if (book.apply(event) instanceof PostingResult.Refused refused) {
            throw new IllegalStateException("the book of tenant " + book.tenant() + " refuses usage event "
                    + event.seq() + ": " + refused.reason());
        }
    }
}
