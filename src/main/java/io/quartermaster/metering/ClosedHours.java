package io.quartermaster.metering;

import io.quartermaster.ledger.Book;
import io.quartermaster.ledger.BookState;
import io.quartermaster.ledger.TenantKey;
import io.quartermaster.ledger.audit.ChainHash;
import io.quartermaster.ledger.audit.HashChain;
import io.quartermaster.platform.db.SystemTransaction;
import io.smallrye.mutiny.Uni;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads and writes {@code closed_hour}. */
public final class ClosedHours {

    /** How long books are kept. With a day of them, an audit of yesterday does not begin at the start of the month. */
    private static final long BOOK_RETENTION_MILLIS = Duration.ofDays(1).toMillis();

    /** A step of forgetting. An installation that kept every book forgets them over many closings. */
    private static final int MAX_BOOKS_DROPPED_PER_CALL = 500;

    /**
     * The end of a closed hour.
     *
     * @param endMillis end of the hour; 0 before the first one
     * @param throughSeq the last usage event in the book; -1 before the first
     * @param book the tenant's book at that instant, if it is still kept
     * @param chain the end of the tenant's chain of segments
     */
    public record HourEnd(long endMillis, long throughSeq, Optional<BookState> book, HashChain.End chain) {

        /** The state before the first hour is closed. */
        static HourEnd beforeFirst(TenantKey tenant) {
            BookState empty = Book.empty(tenant).state();
            return new HourEnd(0, empty.seq(), Optional.of(empty), HashChain.beginning(tenant));
        }

        /** The book of the newest closed hour, which is never forgotten. */
        public BookState state() {
            return book.orElseThrow(
                    () -> new IllegalStateException("the book of the closed hour " + endMillis + " is missing"));
        }
    }

    private static final String SELECT =
            "select hour_ms, through_seq, cast(format as bigint), cast(state as text), records, encode(last_hash, "
                    + "'hex') from closed_hour";

    private ClosedHours() {}

    /** The last closed hour of a tenant; {@link HourEnd#beforeFirst} when there is none. */
    static Uni<HourEnd> last(UsageQuery usageQuery, TenantKey tenant) {
        return usageQuery
                .rows(SELECT + " where tenant_id = $1 order by hour_ms desc limit 1", tenant.value())
                .map(rows -> firstRow(rows).orElseGet(() -> HourEnd.beforeFirst(tenant)));
    }

    /** The last closed hour that ended at or before an instant, and whose book is kept. */
    public static Uni<HourEnd> lastWithBook(UsageQuery usageQuery, TenantKey tenant, long untilMillis) {
        return usageQuery
                .rows(
                        SELECT + " where tenant_id = $1 and hour_ms <= $2 and state is not null "
                                + "order by hour_ms desc limit 1",
                        tenant.value(),
                        untilMillis)
                .map(rows -> firstRow(rows).orElseGet(() -> HourEnd.beforeFirst(tenant)));
    }

    /** The first closed hour that ended after an instant. */
    public static Uni<Optional<HourEnd>> firstAfter(UsageQuery usageQuery, TenantKey tenant, long afterMillis) {
        return usageQuery
                .rows(
                        SELECT + " where tenant_id = $1 and hour_ms > $2 order by hour_ms limit 1",
                        tenant.value(),
                        afterMillis)
                .map(ClosedHours::firstRow);
    }

    /** Whether all events before an instant are in closed hours; true where there are none. */
    static Uni<Boolean> isClosedUntil(UsageQuery usageQuery, TenantKey tenant, long untilMillis) {
        return usageQuery.rows("""
                        select coalesce((select max(hour_ms) from closed_hour where tenant_id = $1), 0),
                               coalesce((select at_ms from usage_event where tenant_id = $2 order by seq limit 1), $3)
                        """, tenant.value(), tenant.value(), untilMillis).map(rows -> {
            UsageQuery.Reader row = new UsageQuery.Reader(rows.getFirst());
            long closedUntil = row.number("hour_ms");
            return closedUntil >= untilMillis || row.number("at_ms") >= untilMillis;
        });
    }

    /**
     * The segments of a stretch of closed hours: numbers of the chain without a gap.
     *
     * @param after the last number before them
     * @param through the last of them
     */
    record NumberRange(long after, long through) {}

    /** The numbers of the segments whose hours end after {@code fromMillis} and by {@code toMillis}. */
    static Uni<NumberRange> segmentNumbers(UsageQuery usageQuery, TenantKey tenant, long fromMillis, long toMillis) {
        return usageQuery
                .rows("""
                        select coalesce((select records from closed_hour where tenant_id = $1 and hour_ms <= $2
                                   order by hour_ms desc limit 1), 0),
                               coalesce((select records from closed_hour where tenant_id = $3 and hour_ms <= $4
                                   order by hour_ms desc limit 1), 0)
                        """, tenant.value(), fromMillis, tenant.value(), toMillis)
                .map(rows -> {
                    UsageQuery.Reader row = new UsageQuery.Reader(rows.getFirst());
                    return new NumberRange(row.number("records"), row.number("records"));
                });
    }

    private static Optional<HourEnd> firstRow(List<Object[]> rows) {
        return rows.stream().findFirst().map(values -> {
            UsageQuery.Reader row = new UsageQuery.Reader(values);
            long end = row.number("hour_ms");
            long throughSeq = row.number("through_seq");
            long format = row.number("format");
            Optional<BookState> book = Optional.ofNullable(row.textOrNull()).map(text -> parseBook(end, format, text));
            HashChain.End chain = new HashChain.End(row.number("records"), new ChainHash(row.text("last_hash")));
            return new HourEnd(end, throughSeq, book, chain);
        });
    }

    private static BookState parseBook(long endMillis, long format, String text) {
        if (format != BookState.FORMAT) {
            throw new IllegalStateException("the closed hour " + endMillis + " is of format " + format
                    + ", but this program reads " + BookState.FORMAT);
        }
        return BookStateJson.read(text);
    }

    /**
     * Whether the book of an hour is stored: those of the last day before the newest hour that can close, and the first
     * of each month (UTC). From the latter an audit counts any other hour again, in a month's events at most.
     */
    static boolean keepsBook(long hourEndMillis, long newestMillis) {
        return hourEndMillis > newestMillis - BOOK_RETENTION_MILLIS || isStartOfMonth(hourEndMillis);
    }

    private static boolean isStartOfMonth(long millis) {
        ZonedDateTime time = Instant.ofEpochMilli(millis).atZone(ZoneOffset.UTC);
        return time.equals(time.truncatedTo(ChronoUnit.DAYS).withDayOfMonth(1));
    }

    /**
     * Sends closed hours to PostgreSQL, whose sums the transaction stores too. {@link PendingInsert#requireStored} must
     * be called before the commit.
     */
    static PendingInsert insert(SystemTransaction transaction, TenantKey tenant, List<HourEnd> closed) {
        int size = closed.size();
        Long[] end = new Long[size];
        Long[] through = new Long[size];
        @Nullable String[] book = new String[size];
        Long[] records = new Long[size];
        String[] hash = new String[size];
        for (int i = 0; i < size; i++) {
            HourEnd each = closed.get(i);
            end[i] = each.endMillis();
            through[i] = each.throughSeq();
            book[i] = each.book().map(BookStateJson::write).orElse(null);
            records[i] = each.chain().number();
            hash[i] = each.chain().hash().hex();
        }
        SystemTransaction.PendingStatement sent =
                transaction.send("""
                insert into closed_hour (tenant_id, hour_ms, through_seq, state, format, records, last_hash, closed_at,
                    summed)
                select $1, hour_ms, through_seq, cast(book as jsonb), $2, records, decode(hash, 'hex'),
                       clock_timestamp(), true
                  from unnest($3::bigint[], $4::bigint[], $5::text[], $6::bigint[], $7::text[])
                       x (hour_ms, through_seq, book, records, hash)
                returning hour_ms, cast(state as text) as state
                """, tenant.value(), BookState.FORMAT, end, through, book, records, hash);
        return new PendingInsert(
                closed.stream().filter(each -> each.book().isPresent()).toList(), sent);
    }

    /** Closed hours that were sent; of those with a book. */
    record PendingInsert(List<HourEnd> withBook, SystemTransaction.PendingStatement sent) {

        /** A stored book must read back as the same book, because later hours begin with it. */
        void requireStored() {
            if (withBook.isEmpty()) {
                return;
            }
            Map<Long, String> stored = new HashMap<>();
            sent.rows().forEach(row -> stored.put(row.getLong("hour_ms"), row.getString("state")));
            for (HourEnd each : withBook) {
                String text = stored.get(each.endMillis());
                if (text == null || !each.state().equals(BookStateJson.read(text))) {
                    throw new IllegalStateException(
                            "the database does not return the state of the book as it was written");
                }
            }
        }
    }

    /** Forgets books that are older than a day before the newest closed hour. */
    static void dropOldBooks(SystemTransaction transaction, TenantKey tenant, long newestMillis) {
        transaction.send(
                """
                update closed_hour set state = null
                 where tenant_id = $1 and hour_ms in (
                       select hour_ms from closed_hour where tenant_id = $2 and state is not null and hour_ms <= $3
                          and to_timestamp(hour_ms / 1000) <> date_trunc('month', to_timestamp(hour_ms / 1000), 'UTC')
                        order by hour_ms limit $4 for update skip locked)
                """, tenant.value(), tenant.value(), newestMillis - BOOK_RETENTION_MILLIS, MAX_BOOKS_DROPPED_PER_CALL);
    }
}
