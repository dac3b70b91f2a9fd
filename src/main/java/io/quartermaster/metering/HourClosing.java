package io.quartermaster.metering;

import io.quartermaster.ledger.Book;
import io.quartermaster.ledger.BookState;
import io.quartermaster.ledger.Segment;
import io.quartermaster.ledger.TenantKey;
import io.quartermaster.ledger.UsageEvent;
import io.quartermaster.ledger.audit.HashChain;
import io.quartermaster.platform.db.SystemTransaction;
import io.vertx.mutiny.sqlclient.Row;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;

/**
 * Closes hours of one tenant in one transaction: as many as the limits of a transaction allow, and at least one. What
 * it reads is what these hours hold, however long the backlog after them is.
 */
final class HourClosing {

    private static final long HOUR_MILLIS = BookState.HOUR_MILLIS;

    /** Limits of a transaction, so that its memory and its locks are bounded. One hour may exceed all but the first. */
    private static final int HOURS = 48;

    private static final int EVENTS = 20_000;
    private static final int SEGMENTS = 20_000;

    /** Rows of one statement. PostgreSQL stores them while the next ones are hashed. */
    private static final int ROWS = 2_000;

    /**
     * By the hour that they affect, the last of a tenant's events. An event affects the hour of its stamp, or the
     * earlier one into which it reaches back. No event reaches back before the last closed hour; one that did would be
     * refused by the book when its number is passed.
     */
    static final String LAST_EVENTS = """
            with affecting as materialized (
                select least(at_ms, since_ms) as ms, seq from usage_event
                 where tenant_id = $1 and least(at_ms, since_ms) >= $2 and least(at_ms, since_ms) < $3
                 order by least(at_ms, since_ms) limit $4)
            select (ms / 3600000 + 1) * 3600000 as hour_ms, max(seq) as seq, count(*) as events
              from affecting group by 1 order by 1
            """;

    private final SystemTransaction tx;
    private final TenantKey tenant;
    private final ClosedHours.Closed last;
    private final long untilMillis;
    private final List<SegmentStore.Closing> rows = new ArrayList<>();
    private final List<ClosedHours.Closed> hoursToSend = new ArrayList<>();
    private final List<ClosedHours.Sending> sent = new ArrayList<>();
    private final HourSums.Adding sums = new HourSums.Adding();

    /** @param untilMillis end of the last hour that can close */
    HourClosing(SystemTransaction tx, TenantKey tenant, ClosedHours.Closed last, long untilMillis) {
        this.tx = tx;
        this.tenant = tenant;
        this.last = last;
        this.untilMillis = untilMillis;
    }

    /** The hours that are closed now, and the last event of each that has one. */
    private record Plan(long endMillis, TreeMap<Long, Long> lastEvents) {}

    /** Closes hours from the one that ends at an instant; returns how many. */
    int close(long firstEndMillis) {
        Plan plan = plan(firstEndMillis);
        List<UsageEvent> events = UsageEventReader.read(
                        UsageQuery.of(tx),
                        tenant.value(),
                        last.throughSeq(),
                        plan.lastEvents().values().stream()
                                .mapToLong(seq -> seq)
                                .reduce(last.throughSeq(), Math::max),
                        Integer.MAX_VALUE)
                .await()
                .indefinitely();
        Book book = Book.resume(last.state());
        HashChain.End chain = last.chain();
        long through = last.throughSeq();
        int applied = 0;
        int segments = 0;
        int hours = 0;
        long end = firstEndMillis - HOUR_MILLIS;
        boolean more = true;
        while (more) {
            end += HOUR_MILLIS;
            for (long affecting : plan.lastEvents().headMap(end, true).values()) {
                through = Math.max(through, affecting);
            }
            plan.lastEvents().headMap(end, true).clear();
            while (applied < events.size() && events.get(applied).seq() <= through) {
                HourCloser.apply(book, events.get(applied));
                applied++;
            }
            List<Segment> closed = book.close(end);
            hours++;
            segments += closed.size();
            more = end < plan.endMillis() && segments < SEGMENTS;
            HashChain.End before = chain;
            chain = chained(before, end, closed);
            // The next transaction begins with the book of the last hour.
            boolean kept = !more || ClosedHours.isKept(end, untilMillis);
            hoursToSend.add(
                    new ClosedHours.Closed(end, through, kept ? Optional.of(book.state()) : Optional.empty(), chain));
            if (rows.size() >= ROWS) {
                store();
            }
        }
        if (!hoursToSend.isEmpty()) {
            store();
        }
        sums.insert(tx, tenant);
        ClosedHours.forget(tx, tenant, end);
        sent.forEach(ClosedHours.Sending::check);
        return hours;
    }

    /** Links segments to the chain, and keeps their rows until they are stored; returns the end of the chain. */
    private HashChain.End chained(HashChain.End chain, long hourEndMillis, List<Segment> segments) {
        HashChain.End end = chain;
        for (Segment segment : segments) {
            UUID id = segment.id();
            HashChain.Link link = HashChain.append(end, segment.format(), segment.canonicalText(id));
            SegmentStore.Closing closing = SegmentStore.Closing.of(hourEndMillis, id, segment, link);
            rows.add(closing);
            sums.add(closing);
            end = link.end();
        }
        return end;
    }

    /** The hours go before their segments, which PostgreSQL accepts for closed hours only. */
    private void store() {
        sent.add(ClosedHours.insert(tx, tenant, hoursToSend));
        hoursToSend.clear();
        for (int from = 0; from < rows.size(); from += ROWS) {
            SegmentStore.insert(tx, tenant, rows.subList(from, Math.min(rows.size(), from + ROWS)));
        }
        rows.clear();
    }

    private Plan plan(long firstEndMillis) {
        long endMillis = Math.min(untilMillis, firstEndMillis + (HOURS - 1) * HOUR_MILLIS);
        TreeMap<Long, Long> lastEvents = new TreeMap<>();
        if (lastEvents(endMillis, EVENTS, lastEvents)) {
            return new Plan(endMillis, lastEvents);
        }
        // The last of these hours has events that were not read.
        long cut = lastEvents.pollLastEntry().getKey();
        if (cut > firstEndMillis) {
            return new Plan(cut - HOUR_MILLIS, lastEvents);
        }
        lastEvents.clear();
        lastEvents(firstEndMillis, Integer.MAX_VALUE, lastEvents);
        return new Plan(firstEndMillis, lastEvents);
    }

    /** Reads the last event of each hour until an instant; false if there are more events than the limit. */
    private boolean lastEvents(long endMillis, int limit, TreeMap<Long, Long> lastEvents) {
        long read = 0;
        for (Row row : tx.run(LAST_EVENTS, tenant.value(), last.endMillis(), endMillis, (long) limit)) {
            lastEvents.put(row.getLong("hour_ms"), row.getLong("seq"));
            read += row.getLong("events");
        }
        return read < limit;
    }
}
