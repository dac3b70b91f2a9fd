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
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The sums of closed hours. {@code usage_hour} has them by pool, class, standing, group, queue and user. They answer
 * most questions about a month with a few thousand rows, however many segments the month has. {@code usage_label_hour}
 * has the same, for one label key each, of the usage for which the key was declared.
 */
public final class HourSums {

    /** The dimensions that the sums have; questions about others are answered from segments. */
    private static final Set<Dimension> DIMENSIONS = EnumSet.of(
            Dimension.HOUR,
            Dimension.PERIOD,
            Dimension.POOL,
            Dimension.CLASS,
            Dimension.STANDING,
            Dimension.GROUP,
            Dimension.QUEUE,
            Dimension.USER,
            Dimension.LABEL_STATE,
            Dimension.LABEL_VALUE);

    /** The sums that one statement stores. */
    static final int MAX_ROWS_PER_INSERT = 2_000;

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

    /** A sum of usage with a value of one label key, or of usage of workloads without such a label. */
    private record LabelKey(String label, @Nullable String value, Key of) {}

    /** Sums of hours that are being closed. */
    static final class Accumulator {
        private final Map<Key, Long> sums = new LinkedHashMap<>();
        private final Map<LabelKey, Long> labelSums = new LinkedHashMap<>();

        void add(SegmentStore.NewSegment closing) {
            Key key = Key.of(closing);
            long amount = closing.segment().gpuMilliMillis();
            sums.merge(key, amount, Math::addExact);
            closing.segment().held().ifPresent(held -> held.marks()
                    .labels()
                    .values()
                    .forEach((label, value) ->
                            labelSums.merge(new LabelKey(label, value.orElse(null), key), amount, Math::addExact)));
        }

        /** Sends the sums to PostgreSQL, and begins again. The rows of their closed hours are there already. */
        void insert(SystemTransaction transaction, TenantKey tenant) {
            forEachPart(sums, part -> insertSums(transaction, tenant, part));
            forEachPart(labelSums, part -> insertLabelSums(transaction, tenant, part));
        }

        /** A statement has a time limit, and members choose how many values their labels have. */
        private static <K> void forEachPart(Map<K, Long> sums, Consumer<List<Map.Entry<K, Long>>> insert) {
            List<Map.Entry<K, Long>> all = List.copyOf(sums.entrySet());
            for (int from = 0; from < all.size(); from += MAX_ROWS_PER_INSERT) {
                insert.accept(all.subList(from, Math.min(all.size(), from + MAX_ROWS_PER_INSERT)));
            }
            sums.clear();
        }

        private static void insertSums(
                SystemTransaction transaction, TenantKey tenant, List<Map.Entry<Key, Long>> part) {
            Columns columns = new Columns(part.size());
            part.forEach(sum -> columns.add(sum.getKey(), sum.getValue()));
            transaction.send(
                    """
                    insert into usage_hour (tenant_id, hour_ms, pool, class, standing, group_path, queue, submitted_by,
                        gpu_milli_ms)
                    select $1, x.* from unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[],
                        $7::text[], $8::text[], $9::bigint[]) x
                    """,
                    tenant.value(),
                    columns.hour,
                    columns.pool,
                    columns.usageClass,
                    columns.standing,
                    columns.group,
                    columns.queue,
                    columns.user,
                    columns.amount);
        }

        private static void insertLabelSums(
                SystemTransaction transaction, TenantKey tenant, List<Map.Entry<LabelKey, Long>> part) {
            Columns columns = new Columns(part.size());
            String[] label = new String[part.size()];
            @Nullable String[] value = new String[part.size()];
            for (Map.Entry<LabelKey, Long> sum : part) {
                label[columns.size] = sum.getKey().label();
                value[columns.size] = sum.getKey().value();
                columns.add(sum.getKey().of(), sum.getValue());
            }
            transaction.send(
                    """
                    insert into usage_label_hour (tenant_id, label_key, label_value, hour_ms, pool, class, standing,
                        group_path, queue, submitted_by, gpu_milli_ms)
                    select $1, x.* from unnest($2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[],
                        $7::text[], $8::text[], $9::text[], $10::text[], $11::bigint[]) x
                    """,
                    tenant.value(),
                    label,
                    value,
                    columns.hour,
                    columns.pool,
                    columns.usageClass,
                    columns.standing,
                    columns.group,
                    columns.queue,
                    columns.user,
                    columns.amount);
        }
    }

    /** The columns of sums that are inserted together. */
    private static final class Columns {
        private final Long[] hour;
        private final String[] pool;
        private final String[] usageClass;
        private final @Nullable String[] standing;
        private final @Nullable String[] group;
        private final @Nullable String[] queue;
        private final @Nullable String[] user;
        private final Long[] amount;
        private int size;

        Columns(int max) {
            hour = new Long[max];
            pool = new String[max];
            usageClass = new String[max];
            standing = new String[max];
            group = new String[max];
            queue = new String[max];
            user = new String[max];
            amount = new Long[max];
        }

        void add(Key key, long sum) {
            hour[size] = key.hourMillis();
            pool[size] = key.pool();
            usageClass[size] = EnumNames.of(key.usageClass());
            standing[size] = key.standing() == null ? null : EnumNames.of(key.standing());
            group[size] = key.group();
            queue[size] = key.queue();
            user[size] = key.user();
            amount[size] = sum;
            size++;
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
                      from missing join segment using (tenant_id, hour_ms) group by 1, 2, 3, 4, 5, 6, 7, 8),
                label_sums as (
                    insert into usage_label_hour (tenant_id, hour_ms, label_key, label_value, pool, class, standing,
                        group_path, queue, submitted_by, gpu_milli_ms)
                    select tenant_id, hour_ms, l.key, l.value, pool, class, standing, group_path, queue, submitted_by,
                           sum(gpu_milli * (to_ms - from_ms))::bigint
                      from missing join segment using (tenant_id, hour_ms)
                      cross join lateral jsonb_each_text(labels) l group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
                update closed_hour h set summed = true from missing m
                 where h.tenant_id = m.tenant_id and h.hour_ms = m.hour_ms
                """, MAX_HOURS_PER_CALL).rowCount();
    }
}
