package io.quartermaster.metering;

import io.quartermaster.ledger.Segment;
import io.quartermaster.ledger.Standing;
import io.quartermaster.ledger.TenantKey;
import io.quartermaster.ledger.Usage.Dimension;
import io.quartermaster.ledger.UsageClass;
import io.quartermaster.platform.EnumNames;
import io.quartermaster.platform.db.SystemTransaction;
import io.smallrye.mutiny.Uni;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The sums of closed hours, {@code usage_hour}: by pool, class, standing, group, queue and user. They answer most
 * questions about a month with a few thousand rows, however many segments the month has.
 */
public final class HourSums {

    /** The dimensions that the sums have; questions about others are answered from segments. */
    private static final Set<Dimension> DIMENSIONS = EnumSet.of(
            Dimension.HOUR,
            Dimension.POOL,
            Dimension.CLASS,
            Dimension.STANDING,
            Dimension.GROUP,
            Dimension.QUEUE,
            Dimension.USER);

    /** The hours that one transaction sums up afterwards. */
    private static final int MAX_HOURS_PER_CALL = 20;

    private HourSums() {}

    /** The dimensions of a sum. Usage without a holder has no standing, group, queue and user. */
    private record Key(
            long hourMillis,
            String pool,
            UsageClass usageClass,
            @Nullable Standing standing,
            @Nullable String group,
            @Nullable String queue,
            @Nullable String user) {

        static Key of(SegmentStore.NewSegment closing) {
            Segment segment = closing.segment();
            return segment.held()
                    .map(held -> new Key(
                            closing.hourMillis(),
                            segment.pool().value(),
                            segment.usageClass(),
                            held.standing(),
                            held.marks().group(),
                            held.marks().queue(),
                            held.marks().user()))
                    .orElseGet(() -> new Key(
                            closing.hourMillis(),
                            segment.pool().value(),
                            segment.usageClass(),
                            null,
                            null,
                            null,
                            null));
        }
    }

    /** Sums of hours that are being closed. */
    static final class Accumulator {
        private final Map<Key, Long> sums = new LinkedHashMap<>();

        void add(SegmentStore.NewSegment closing) {
            sums.merge(Key.of(closing), closing.segment().gpuMilliMillis(), Math::addExact);
        }

        int size() {
            return sums.size();
        }

        /** Sends the sums to PostgreSQL, and begins again. The rows of their closed hours are there already. */
        void insert(SystemTransaction transaction, TenantKey tenant) {
            int size = sums.size();
            Long[] hour = new Long[size];
            String[] pool = new String[size];
            String[] usageClass = new String[size];
            @Nullable String[] standing = new String[size];
            @Nullable String[] group = new String[size];
            @Nullable String[] queue = new String[size];
            @Nullable String[] user = new String[size];
            Long[] amount = new Long[size];
            int i = 0;
            for (Map.Entry<Key, Long> sum : sums.entrySet()) {
                Key key = sum.getKey();
                hour[i] = key.hourMillis();
                pool[i] = key.pool();
                usageClass[i] = EnumNames.of(key.usageClass());
                standing[i] = key.standing() == null ? null : EnumNames.of(key.standing());
                group[i] = key.group();
                queue[i] = key.queue();
                user[i] = key.user();
                amount[i] = sum.getValue();
                i++;
            }
            sums.clear();
            transaction.send("""
                    insert into usage_hour (tenant_id, hour_ms, pool, class, standing, group_path, queue, submitted_by,
                        gpu_milli_ms)
                    select $1, x.* from unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[],
                        $7::text[], $8::text[], $9::bigint[]) x
                    """, tenant.value(), hour, pool, usageClass, standing, group, queue, user, amount);
        }
    }

    /** Whether sums by these dimensions can be made of the hourly ones. */
    static boolean cover(List<Dimension> dimensions) {
        return DIMENSIONS.containsAll(dimensions);
    }

    /** Whether all closed hours that end in {@code (fromMillis, toMillis]} have their sums. */
    static Uni<Boolean> areComplete(UsageQuery usageQuery, TenantKey tenant, long fromMillis, long toMillis) {
        return usageQuery
                .rows(
                        "select hour_ms, records from closed_hour where tenant_id = $1 and hour_ms > $2 "
                                + "and hour_ms <= $3 and not summed limit 1",
                        tenant.value(),
                        fromMillis,
                        toMillis)
                .map(List::isEmpty);
    }

    /**
     * Sums up some of the hours that have no sums: those that an earlier version closed. Returns how many; 0 when all
     * have theirs. Replicas that do this at the same time take different hours.
     */
    static int addMissing(SystemTransaction transaction) {
        return transaction.run("""
                with missing as (
                    select tenant_id, hour_ms from closed_hour where not summed
                     order by tenant_id, hour_ms limit $1 for update skip locked),
                sums as (
                    insert into usage_hour (tenant_id, hour_ms, pool, class, standing, group_path, queue,
                        submitted_by, gpu_milli_ms)
                    select tenant_id, hour_ms, pool, class, standing, group_path, queue, submitted_by,
                           sum(gpu_milli * (to_ms - from_ms))::bigint
                      from missing join segment using (tenant_id, hour_ms) group by 1, 2, 3, 4, 5, 6, 7, 8)
                update closed_hour h set summed = true from missing m
                 where h.tenant_id = m.tenant_id and h.hour_ms = m.hour_ms
                """, MAX_HOURS_PER_CALL).rowCount();
    }

    /** A sum that its hour's segments do not give. */
    public record SumMismatch(String subject, long expected, long found) {}

    /** Compares the sums of an hour, if it has them, with its segments; shares no code with the closing. */
    public static Uni<List<SumMismatch>> findMismatches(UsageQuery usageQuery, TenantKey tenant, long hourEndMillis) {
        return usageQuery
                .rows("""
                        select concat_ws(' ', pool, class, standing, group_path, queue, submitted_by),
                               cast(sum(counted) as bigint), cast(sum(kept) as bigint)
                          from (select pool, class, standing, group_path, queue, submitted_by,
                                       gpu_milli * (to_ms - from_ms) as counted, 0 as kept
                                  from segment where tenant_id = $1 and hour_ms = $2
                                union all
                                select pool, class, standing, group_path, queue, submitted_by, 0, gpu_milli_ms
                                  from usage_hour where tenant_id = $3 and hour_ms = $4) both_sides
                         where exists (select 1 from closed_hour where tenant_id = $5 and hour_ms = $6 and summed)
                         group by pool, class, standing, group_path, queue, submitted_by
                        having sum(counted) <> sum(kept) order by 1
                        """, tenant.value(), hourEndMillis, tenant.value(), hourEndMillis, tenant.value(), hourEndMillis)
                .map(rows -> rows.stream()
                        .map(UsageQuery.Reader::new)
                        .map(row -> new SumMismatch(row.text("subject"), row.number("counted"), row.number("kept")))
                        .toList());
    }
}
