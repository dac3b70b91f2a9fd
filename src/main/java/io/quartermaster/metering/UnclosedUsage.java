package io.quartermaster.metering;

import io.quartermaster.ledger.Book;
import io.quartermaster.ledger.Segment;
import io.quartermaster.ledger.TenantKey;
import io.quartermaster.ledger.UsageEvent;
import io.quartermaster.platform.http.ProblemException;
import io.smallrye.mutiny.Uni;
import java.util.List;

/**
 * The open part of a tenant's usage: the state at the last closed hour and the events since.
 *
 * @param stampMillis the cell's stamp before the events were read: the events include all up to it
 */
public record UnclosedUsage(ClosedHours.HourEnd closed, List<UsageEvent> events, long stampMillis) {

    private static final String STAMP =
            "select cast(floor(extract(epoch from min(stamp)) * 1000) as bigint), cast(count(*) as bigint) from cell";

    public UnclosedUsage {
        events = List.copyOf(events);
    }

    /** @param limit with more open events than this, the answer is a problem: closing is far behind */
    public static Uni<UnclosedUsage> read(UsageQuery usageQuery, TenantKey tenant, int limit) {
        return usageQuery
                .rows(STAMP)
                .map(rows -> new UsageQuery.Reader(rows.getFirst()).number("stamp"))
                .chain(stamp -> ClosedHours.last(usageQuery, tenant).chain(closed -> UsageEventReader.read(
                                usageQuery, tenant.value(), closed.throughSeq(), Long.MAX_VALUE, limit)
                        .map(events -> new UnclosedUsage(closed, events, stamp))))
                .onFailure(UsageEventReader.TooManyEvents.class)
                .transform(e -> ProblemException.of(
                        503, "ledger-behind", "closing the hours of this tenant is far behind; try again later"));
    }

    /** The open segments at the stamp, or at an earlier instant. */
    public List<Segment> segments(long untilMillis) {
        Book book = Book.resume(closed.state());
        events.forEach(event -> HourCloser.applyOrThrow(book, event));
        return book.provisionalSegments(Math.max(closed.endMillis(), Math.min(untilMillis, stampMillis)));
    }
}
