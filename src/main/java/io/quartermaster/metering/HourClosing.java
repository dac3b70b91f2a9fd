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
    private static final int MAX_HOURS = 48;

    private static final int MAX_EVENTS = 20_000;
    private static final int MAX_SEGMENTS = 20_000;

    /** Rows of one statement. PostgreSQL stores them while the next ones are hashed. */
    private static final int MAX_ROWS_PER_INSERT = 2_000;

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
    private final ClosedHours.HourEnd last;
    private final long untilMillis;
    private final List<SegmentStore.NewSegment> pendingSegments = new ArrayList<>();
    private final List<ClosedHours.HourEnd> pendingHours = new ArrayList<>();
    private final List<ClosedHours.PendingInsert> pendingInserts = new ArrayList<>();
    private final HourSums.Accumulator sums = new HourSums.Accumulator();

    /** @param untilMillis end of the last hour that can close */
    HourClosing(SystemTransaction tx, TenantKey tenant, ClosedHours.HourEnd last, long untilMillis) {
        this.tx = tx;
        this.tenant = tenant;
        this.last = last;
        this.untilMillis = untilMillis;
    }

    /** The hours that are closed now, and the last event of each that has one. */
    private record Plan(long endMillis, TreeMap<Long, Long> lastEvents) {}

    /** Closes hours from the one that ends at an instant; returns how many. */
    int close(long firstEndMillis) {
        Plan plan = planHours(firstEndMillis);
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
        long throughSeq = last.throughSeq();
        int applied = 0;
        int segments = 0;
        int hours = 0;
        long end = firstEndMillis - HOUR_MILLIS;
        boolean more = true;
        while (more) {
            end += HOUR_MILLIS;
            for (long affecting : plan.lastEvents().headMap(end, true).values()) {
                throughSeq = Math.max(throughSeq, affecting);
            }
            plan.lastEvents().headMap(end, true).clear();
            while (applied < events.size() && events.get(applied).seq() <= throughSeq) {
                HourCloser.applyOrThrow(book, events.get(applied));
                applied++;
            }
            List<Segment> closed = book.close(end);
            hours++;
            segments += closed.size();
            more = end < plan.endMillis() && segments < MAX_SEGMENTS;
            HashChain.End before = chain;
            chain = appendToChain(before, end, closed);
            // The next transaction begins with the book of the last hour.
            boolean keepsBook = !more || ClosedHours.keepsBook(end, untilMillis);
            pendingHours.add(new ClosedHours.HourEnd(
                    end, throughSeq, keepsBook ? Optional.of(book.state()) : Optional.empty(), chain));
            if (pendingSegments.size() >= MAX_ROWS_PER_INSERT) {
                sendPending();
            }
        }
        if (!pendingHours.isEmpty()) {
            sendPending();
        }
        sums.insert(tx, tenant);
        ClosedHours.dropOldBooks(tx, tenant, end);
        pendingInserts.forEach(ClosedHours.PendingInsert::requireStored);
        return hours;
    }

    /** Links segments to the chain, and keeps their rows until they are stored; returns the end of the chain. */
    private HashChain.End appendToChain(HashChain.End chain, long hourEndMillis, List<Segment> segments) {
        HashChain.End end = chain;
        for (Segment segment : segments) {
            UUID id = segment.id();
            HashChain.Link link = HashChain.append(end, Segment.FORMAT, segment.canonicalText(id));
            SegmentStore.NewSegment closing = SegmentStore.NewSegment.of(hourEndMillis, id, segment, link);
            pendingSegments.add(closing);
            sums.add(closing);
            end = link.end();
        }
        return end;
    }

    /** The hours go before their segments, which PostgreSQL accepts for closed hours only. */
    private void sendPending() {
        pendingInserts.add(ClosedHours.insert(tx, tenant, pendingHours));
        pendingHours.clear();
        for (int from = 0; from < pendingSegments.size(); from += MAX_ROWS_PER_INSERT) {
            SegmentStore.insert(
                    tx,
                    tenant,
                    pendingSegments.subList(from, Math.min(pendingSegments.size(), from + MAX_ROWS_PER_INSERT)));
        }
        pendingSegments.clear();
    }

    private Plan planHours(long firstEndMillis) {
        long endMillis = Math.min(untilMillis, firstEndMillis + (MAX_HOURS - 1) * HOUR_MILLIS);
        TreeMap<Long, Long> lastEvents = new TreeMap<>();
        if (readLastEvents(endMillis, MAX_EVENTS, lastEvents)) {
            return new Plan(endMillis, lastEvents);
        }
        // The last of these hours has events that were not read.
        long cut = lastEvents.pollLastEntry().getKey();
        if (cut > firstEndMillis) {
            return new Plan(cut - HOUR_MILLIS, lastEvents);
        }
        lastEvents.clear();
        readLastEvents(firstEndMillis, Integer.MAX_VALUE, lastEvents);
        return new Plan(firstEndMillis, lastEvents);
    }

    /** Reads the last event of each hour until an instant; false if there are more events than the limit. */
    private boolean readLastEvents(long endMillis, int limit, TreeMap<Long, Long> lastEvents) {
        long read = 0;
        for (Row row : tx.run(LAST_EVENTS, tenant.value(), last.endMillis(), endMillis, (long) limit)) {
            lastEvents.put(row.getLong("hour_ms"), row.getLong("seq"));
            read += row.getLong("events");
        }
        return read < limit;
    }
}
