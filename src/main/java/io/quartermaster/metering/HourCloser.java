package io.quartermaster.metering;

import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import io.quartermaster.ledger.Book;
import io.quartermaster.ledger.BookState;
import io.quartermaster.ledger.PostingResult;
import io.quartermaster.ledger.Segment;
import io.quartermaster.ledger.TenantKey;
import io.quartermaster.ledger.UsageEvent;
import io.quartermaster.ledger.audit.HashChain;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.db.SystemTransaction;
import io.vertx.mutiny.sqlclient.Row;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Closes the hours of every tenant, on a thread of its own: it turns events into permanent segments.
 *
 * <p>An hour may close when no further event can affect it. New events carry the cell's stamp or a later one, so the
 * stamp must have reached the hour's end. Two types of events reach back. The first is the loss of a node, which
 * reaches back to its last contact; the second is the end of work. Neither reaches back beyond the last contact before
 * its report. So each node must have been in contact since the hour's end, or be given up. The third condition: all
 * reports about the tenant's work, by the nodes of an attempt or on behalf of a lost node, must be among the events. An
 * attempt with such a report must have ended.
 *
 * <p>One transaction closes one hour of one tenant, so a crash leaves no partial result. Replicas take turns by an
 * advisory lock for the tenant. If two ever run together, the key of {@code closed_hour} lets only one commit.
 */
@ApplicationScoped
public class HourCloser {

    private static final Logger LOG = Logger.getLogger(HourCloser.class);

    private static final long HOUR_MILLIS = BookState.HOUR_MILLIS;

    private final MeteringConfig config;
    private final SystemDatabase database;
    private final LedgerLag lag;
    private final CountDownLatch stop = new CountDownLatch(1);
    private @Nullable Thread thread;

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
        } catch (RuntimeException | Error e) {
            LOG.error("closing hours failed; the service tries again", e);
        }
    }

    /**
     * Closes every hour of every tenant that can close now; tests call it instead of waiting. Returns the number of
     * hours that it closed.
     */
    public int closeDue() {
        int closed = 0;
        int stuck = 0;
        for (TenantKey tenant : tenantsWithUsage()) {
            try {
                while (stop.getCount() > 0 && closeNext(tenant)) {
                    closed++;
                }
            } catch (RuntimeException e) {
                stuck++;
                LOG.errorf(e, "closing the next hour of tenant %s failed; the hour stays open", tenant);
            }
        }
        lag.setStuckTenants(stuck);
        return closed;
    }

    private List<TenantKey> tenantsWithUsage() {
        return database.run(config.statementTimeout(), tx -> {
            List<TenantKey> tenants = new ArrayList<>();
            for (Row row : tx.run(
                    "select id from tenant t where exists (select 1 from usage_event e where e.tenant_id = t.id) "
                            + "order by id")) {
                tenants.add(new TenantKey(row.getString("id")));
            }
            return tenants;
        });
    }

    /** Closes the next open hour of a tenant if it can close. */
    private boolean closeNext(TenantKey tenant) {
        return database.run(config.statementTimeout(), tx -> {
            if (!takeTurn(tx, tenant)) {
                return false;
            }
            UsageQuery usageQuery = UsageQuery.of(tx);
            ClosedHours.Closed last =
                    ClosedHours.last(usageQuery, tenant).await().indefinitely();
            Optional<Long> hourEnd = nextHourEnd(tx, tenant, last);
            if (hourEnd.isEmpty() || hourEnd.get() > closableUntilMillis(tx, tenant)) {
                return false;
            }
            close(tx, tenant, last, hourEnd.get());
            return true;
        });
    }

    private static boolean takeTurn(SystemTransaction tx, TenantKey tenant) {
        return tx.run(
                        "select pg_try_advisory_xact_lock(hashtextextended('quartermaster closing ' || $1, 0)) as mine",
                        tenant.value())
                .iterator()
                .next()
                .getBoolean("mine");
    }

    /** The first hour begins with the first event: there is no usage before it. */
    private static Optional<Long> nextHourEnd(SystemTransaction tx, TenantKey tenant, ClosedHours.Closed last) {
        if (last.endMillis() > 0) {
            return Optional.of(last.endMillis() + HOUR_MILLIS);
        }
        for (Row row :
                tx.run("select at_ms from usage_event where tenant_id = $1 order by seq limit 1", tenant.value())) {
            long first = row.getLong("at_ms");
            return Optional.of(first - first % HOUR_MILLIS + HOUR_MILLIS);
        }
        return Optional.empty();
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

    private void close(SystemTransaction tx, TenantKey tenant, ClosedHours.Closed last, long hourEndMillis) {
        long through = throughSeq(tx, tenant, last.throughSeq(), hourEndMillis);
        Book book = Book.resume(last.state());
        UsageEventReader.read(UsageQuery.of(tx), tenant.value(), last.throughSeq(), through, Integer.MAX_VALUE)
                .await()
                .indefinitely()
                .forEach(event -> apply(book, event));
        List<Segment> segments = book.close(hourEndMillis);
        List<HashChain.Link> links = new ArrayList<>(segments.size());
        HashChain.End end = last.chain();
        for (Segment segment : segments) {
            HashChain.Link link = HashChain.append(end, Segment.FORMAT, segment.canonicalText());
            links.add(link);
            end = link.end();
        }
        ClosedHours.insert(tx, tenant, new ClosedHours.Closed(hourEndMillis, through, book.state(), end));
        SegmentStore.insert(tx, hourEndMillis, segments, links);
        LOG.debugf("tenant %s: closed the hour until %d with %d segments", tenant, hourEndMillis, segments.size());
    }

    /**
     * The last event that affects the hour: it happened in the hour, or reaches back into it. The book takes in the
     * events up to it, in their order. Later events stay for later hours, so that a long backlog is closed in small
     * steps.
     */
    private static long throughSeq(SystemTransaction tx, TenantKey tenant, long afterSeq, long hourEndMillis) {
        Long through = tx.run(
                        "select max(seq) as seq from usage_event where tenant_id = $1 and seq > $2 and "
                                + "least(at_ms, since_ms) < $3",
                        tenant.value(),
                        afterSeq,
                        hourEndMillis)
                .iterator()
                .next()
                .getLong("seq");
        return through == null ? afterSeq : through;
    }

    public static void apply(Book book, UsageEvent event) {
        if (book.apply(event) instanceof PostingResult.Refused refused) {
            throw new IllegalStateException("the book of tenant " + book.tenant() + " refuses usage event "
                    + event.seq() + ": " + refused.reason());
        }
    }
}
