package io.quartermaster.metering;

import io.quartermaster.ledger.AllocationId;
import io.quartermaster.ledger.AllocationMarks;
import io.quartermaster.ledger.Phase;
import io.quartermaster.ledger.PolicyId;
import io.quartermaster.ledger.PoolKey;
import io.quartermaster.ledger.Segment;
import io.quartermaster.ledger.Standing;
import io.quartermaster.ledger.TenantKey;
import io.quartermaster.ledger.UsageClass;
import io.quartermaster.ledger.audit.ChainHash;
import io.quartermaster.ledger.audit.HashChain;
import io.quartermaster.platform.EnumNames;
import io.quartermaster.platform.db.SystemTransaction;
import io.smallrye.mutiny.Uni;
import io.vertx.core.buffer.Buffer;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Reads and writes {@code segment}. */
public final class SegmentStore {

    /**
     * A segment in its place in the tenant's chain.
     *
     * @param number its number in the chain
     * @param storedId the id in the row; {@link Segment#id} computes the expected one
     * @param hourMillis end of the hour under which it is stored
     */
    public record StoredSegment(
            long number, Segment segment, String storedId, long hourMillis, ChainHash previous, ChainHash hash) {

        /** Its link, with the text that is hashed. Exports do without that text, for it is the dearest part. */
        public HashChain.Link link() {
            return new HashChain.Link(number, previous, Segment.FORMAT, segment.canonicalText(), hash);
        }
    }

    private static final String SELECT = """
            select seq, cast(id as text), hour_ms, tenant_id, pool, class, standing, phase, cast(preemptible
                as text), cast(allocation_id as text),
                   cast(attempt_id as text), cast(workload_id as text), cast(policy_id as text), group_path, profile,
                       queue, submitted_by, cluster,
                   gpu_milli, from_ms, to_ms, cast(format as bigint), encode(prev_hash, 'hex'), encode(hash, 'hex')
              from segment where tenant_id = $1
            """;

    /** The segments between two numbers, in the partitions of their hours. */
    static final String BETWEEN = SELECT + " and seq > $2 and seq <= $3 order by seq";

    private SegmentStore() {}

    /**
     * The segments with a number above {@code afterSeq} up to {@code throughSeq}, in the order of the chain. The range
     * bounds the read, and no limit: so every plan of PostgreSQL reads these rows alone, also one made without the
     * numbers. The statement names no hours, although it then looks into every partition: with them, PostgreSQL may
     * read all rows of the hours instead.
     */
    static Uni<List<StoredSegment>> readBetween(
            UsageQuery usageQuery, TenantKey tenant, long afterSeq, long throughSeq) {
        return usageQuery.rows(BETWEEN, tenant.value(), afterSeq, throughSeq).map(SegmentStore::parseRows);
    }

    /** All segments of one hour, in the order of the chain. */
    public static Uni<List<StoredSegment>> readHour(UsageQuery usageQuery, TenantKey tenant, long hourEndMillis) {
        return usageQuery
                .rows(SELECT + " and hour_ms = $2 order by seq", tenant.value(), hourEndMillis)
                .map(SegmentStore::parseRows);
    }

    private static List<StoredSegment> parseRows(List<Object[]> rows) {
        return rows.stream().map(row -> parseRow(new UsageQuery.Reader(row))).toList();
    }

    private static StoredSegment parseRow(UsageQuery.Reader row) {
        long seq = row.number("seq");
        try {
            String id = row.text("id");
            long hour = row.number("hour_ms");
            TenantKey tenant = new TenantKey(row.text("tenant_id"));
            PoolKey pool = new PoolKey(row.text("pool"));
            UsageClass usageClass = EnumNames.stored(UsageClass.class, row.text("class"));
            Optional<Segment.Held> held = parseHeld(row);
            Segment segment = new Segment(
                    tenant,
                    pool,
                    usageClass,
                    held,
                    row.number("gpu_milli"),
                    row.number("from_ms"),
                    row.number("to_ms"));
            int format = Math.toIntExact(row.number("format"));
            if (format != Segment.FORMAT) {
                throw new IllegalStateException("its format is " + format);
            }
            ChainHash previous = new ChainHash(row.text("prev_hash"));
            ChainHash hash = new ChainHash(row.text("hash"));
            return new StoredSegment(seq, segment, id, hour, previous, hash);
        } catch (RuntimeException e) {
            throw new UnreadableSegment(seq, e);
        }
    }

    /** A stored segment that the service cannot have written. */
    static final class UnreadableSegment extends RuntimeException {
        private static final long serialVersionUID = 1L;

        UnreadableSegment(long seq, RuntimeException cause) {
            super("segment " + seq + " cannot be read: " + cause.getMessage(), cause);
        }
    }

    /** All columns of an allocation, or none of them. */
    private static Optional<Segment.Held> parseHeld(UsageQuery.Reader row) {
        String standing = row.textOrNull();
        if (standing == null) {
            for (int column = 0; column < 11; column++) {
                if (row.textOrNull() != null) {
                    throw new IllegalStateException("it has marks, but no holder");
                }
            }
            return Optional.empty();
        }
        Phase phase = EnumNames.stored(Phase.class, row.text("phase"));
        boolean preemptible = Boolean.parseBoolean(row.text("preemptible"));
        AllocationId allocation = new AllocationId(row.text("allocation_id"));
        String attempt = row.text("attempt_id");
        String workload = row.text("workload_id");
        PolicyId policy = new PolicyId(row.text("policy_id"));
        AllocationMarks allocationMarks = new AllocationMarks(
                policy,
                row.text("group_path"),
                row.text("profile"),
                row.text("queue"),
                workload,
                attempt,
                row.text("submitted_by"),
                row.text("cluster"),
                preemptible);
        return Optional.of(
                new Segment.Held(allocation, EnumNames.stored(Standing.class, standing), phase, allocationMarks));
    }

    /** A segment that becomes part of the chain with the hour that ends at an instant. */
    record NewSegment(long hourMillis, UUID id, Segment segment, long number, ChainHash previous, ChainHash hash) {

        /** Without the text that was hashed, so that rows that wait to be stored take little memory. */
        static NewSegment of(long hourMillis, UUID id, Segment segment, HashChain.Link link) {
            return new NewSegment(hourMillis, id, segment, link.number(), link.previous(), link.hash());
        }
    }

    /**
     * Sends the segments to PostgreSQL, a column as an array each. The rows of their closed hours are there already.
     */
    static void insert(SystemTransaction transaction, TenantKey tenant, List<NewSegment> closing) {
        int size = closing.size();
        Columns columns = new Columns(size);
        for (int i = 0; i < size; i++) {
            columns.set(i, closing.get(i));
        }
        transaction.send(
                """
                insert into segment (tenant_id, format, seq, id, hour_ms, pool, class, standing, phase, preemptible,
                    allocation_id, attempt_id, workload_id, policy_id, group_path, profile, queue, submitted_by,
                    cluster, gpu_milli, from_ms, to_ms, prev_hash, hash)
                select $1, $2, x.*
                  from unnest($3::bigint[], $4::uuid[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::text[],
                       $10::boolean[], $11::uuid[], $12::uuid[], $13::uuid[], $14::uuid[], $15::text[], $16::text[],
                       $17::text[], $18::text[], $19::text[], $20::bigint[], $21::bigint[], $22::bigint[],
                       $23::bytea[], $24::bytea[]) x
                """,
                tenant.value(),
                Segment.FORMAT,
                columns.number,
                columns.id,
                columns.hour,
                columns.pool,
                columns.usageClass,
                columns.standing,
                columns.phase,
                columns.preemptible,
                columns.allocation,
                columns.attempt,
                columns.workload,
                columns.policy,
                columns.group,
                columns.profile,
                columns.queue,
                columns.user,
                columns.cluster,
                columns.gpuMilli,
                columns.from,
                columns.to,
                columns.previous,
                columns.hash);
    }

    /** The columns of rows that are inserted together; those of the allocation are null where nothing was held. */
    private static final class Columns {
        private final Long[] number;
        private final UUID[] id;
        private final Long[] hour;
        private final String[] pool;
        private final String[] usageClass;
        private final @Nullable String[] standing;
        private final @Nullable String[] phase;
        private final @Nullable Boolean[] preemptible;
        private final @Nullable UUID[] allocation;
        private final @Nullable UUID[] attempt;
        private final @Nullable UUID[] workload;
        private final @Nullable UUID[] policy;
        private final @Nullable String[] group;
        private final @Nullable String[] profile;
        private final @Nullable String[] queue;
        private final @Nullable String[] user;
        private final @Nullable String[] cluster;
        private final Long[] gpuMilli;
        private final Long[] from;
        private final Long[] to;
        private final Buffer[] previous;
        private final Buffer[] hash;

        Columns(int size) {
            number = new Long[size];
            id = new UUID[size];
            hour = new Long[size];
            pool = new String[size];
            usageClass = new String[size];
            standing = new String[size];
            phase = new String[size];
            preemptible = new Boolean[size];
            allocation = new UUID[size];
            attempt = new UUID[size];
            workload = new UUID[size];
            policy = new UUID[size];
            group = new String[size];
            profile = new String[size];
            queue = new String[size];
            user = new String[size];
            cluster = new String[size];
            gpuMilli = new Long[size];
            from = new Long[size];
            to = new Long[size];
            previous = new Buffer[size];
            hash = new Buffer[size];
        }

        void set(int i, NewSegment closing) {
            Segment segment = closing.segment();
            number[i] = closing.number();
            id[i] = closing.id();
            hour[i] = closing.hourMillis();
            pool[i] = segment.pool().value();
            usageClass[i] = EnumNames.of(segment.usageClass());
            gpuMilli[i] = segment.gpuMilli();
            from[i] = segment.fromMillis();
            to[i] = segment.toMillis();
            previous[i] = bytes(closing.previous());
            hash[i] = bytes(closing.hash());
            segment.held().ifPresent(held -> set(i, held));
        }

        private void set(int i, Segment.Held held) {
            AllocationMarks marks = held.marks();
            standing[i] = EnumNames.of(held.standing());
            phase[i] = EnumNames.of(held.phase());
            preemptible[i] = marks.preemptible();
            allocation[i] = UUID.fromString(held.allocation().value());
            attempt[i] = UUID.fromString(marks.attempt());
            workload[i] = UUID.fromString(marks.workload());
            policy[i] = UUID.fromString(marks.policy().value());
            group[i] = marks.group();
            profile[i] = marks.profile();
            queue[i] = marks.queue();
            user[i] = marks.user();
            cluster[i] = marks.cluster();
        }

        private static Buffer bytes(ChainHash hash) {
            return Buffer.buffer(HexFormat.of().parseHex(hash.hex()));
        }
    }
}
