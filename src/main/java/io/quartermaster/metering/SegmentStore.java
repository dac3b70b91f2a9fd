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
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Optional;

/** Reads and writes {@code segment}. */
public final class SegmentStore {

    /**
     * A segment in its place in the tenant's chain.
     *
     * @param number its number in the chain
     * @param storedId the id in the row; {@link Segment#id} computes the expected one
     * @param hourMillis end of the hour under which it is stored
     */
    public record Stored(
            long number, Segment segment, String storedId, long hourMillis, ChainHash previous, ChainHash hash) {

        /** Its link, with the text that is hashed. Exports do without that text, because it costs more than the rest. */
        public HashChain.Link link() {
            return new HashChain.Link(number, previous, Segment.FORMAT, segment.canonicalText(), hash);
        }
    }

    private static final int INSERT_BATCH = 1_000;

    private static final String SELECT = """
            select seq, cast(id as text), hour_ms, tenant_id, pool, class, standing, phase, cast(preemptible
                as text), cast(allocation_id as text),
                   cast(attempt_id as text), cast(workload_id as text), cast(policy_id as text), group_path, profile,
                       queue, submitted_by, cluster,
                   gpu_milli, from_ms, to_ms, cast(format as bigint), encode(prev_hash, 'hex'), encode(hash, 'hex')
              from segment where tenant_id = $1
            """;

    /** The segments between two numbers. */
    static final String BETWEEN = SELECT + " and seq > $2 and seq <= $3 order by seq";

    private SegmentStore() {}

    /**
     * The segments with a number above {@code afterSeq} up to {@code throughSeq}, in the order of the chain. The range
     * bounds the read, and no limit: so every plan of PostgreSQL reads these rows alone, also one made without the
     * numbers.
     */
    static Uni<List<Stored>> between(UsageQuery usageQuery, TenantKey tenant, long afterSeq, long throughSeq) {
        return usageQuery.rows(BETWEEN, tenant.value(), afterSeq, throughSeq).map(SegmentStore::stored);
    }

    /** All segments of one hour, in the order of the chain. */
    public static Uni<List<Stored>> ofHour(UsageQuery usageQuery, TenantKey tenant, long hourEndMillis) {
        return usageQuery
                .rows(SELECT + " and hour_ms = $2 order by seq", tenant.value(), hourEndMillis)
                .map(SegmentStore::stored);
    }

    private static List<Stored> stored(List<Object[]> rows) {
        return rows.stream().map(row -> stored(new UsageQuery.Reader(row))).toList();
    }

    private static Stored stored(UsageQuery.Reader row) {
        long seq = row.number("seq");
        try {
            String id = row.text("id");
            long hour = row.number("hour_ms");
            TenantKey tenant = new TenantKey(row.text("tenant_id"));
            PoolKey pool = new PoolKey(row.text("pool"));
            UsageClass usageClass = EnumNames.stored(UsageClass.class, row.text("class"));
            Optional<Segment.Held> held = held(row);
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
            return new Stored(seq, segment, id, hour, previous, hash);
        } catch (RuntimeException e) {
            throw new Unreadable(seq, e);
        }
    }

    /** A stored segment that the service cannot have written. */
    static final class Unreadable extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Unreadable(long seq, RuntimeException cause) {
            super("segment " + seq + " cannot be read: " + cause.getMessage(), cause);
        }
    }

    /** All columns of an allocation, or none of them. */
    private static Optional<Segment.Held> held(UsageQuery.Reader row) {
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

    /** Stores the segments of an hour, in the order of the links. */
    static void insert(
            SystemTransaction transaction, long hourEndMillis, List<Segment> segments, List<HashChain.Link> links) {
        for (int from = 0; from < segments.size(); from += INSERT_BATCH) {
            int to = Math.min(segments.size(), from + INSERT_BATCH);
            JsonArray rows = new JsonArray();
            for (int i = from; i < to; i++) {
                rows.add(row(segments.get(i), links.get(i)));
            }
            transaction.run("""
                    insert into segment (tenant_id, seq, id, hour_ms, pool, class, standing, phase, preemptible,
                        allocation_id, attempt_id, workload_id,
                           policy_id, group_path, profile, queue, submitted_by, cluster, gpu_milli, from_ms, to_ms,
                               format, prev_hash, hash)
                    select tenant_id, seq, id, $2, pool, class, standing, phase, preemptible, allocation_id,
                        attempt_id, workload_id,
                           policy_id, group_path, profile, queue, submitted_by, cluster, gpu_milli, from_ms, to_ms,
                               format,
                           decode(prev_hash, 'hex'), decode(hash, 'hex')
                      from jsonb_to_recordset($1) as x(tenant_id text, seq bigint, id uuid, pool text, class text,
                          standing text, phase text,
                           preemptible boolean, allocation_id uuid, attempt_id uuid, workload_id uuid,
                               policy_id uuid, group_path text, profile text,
                           queue text, submitted_by text, cluster text, gpu_milli bigint, from_ms bigint,
                               to_ms bigint, format int,
                           prev_hash text, hash text)
                     order by seq
                    """, rows, hourEndMillis);
        }
    }

    private static JsonObject row(Segment segment, HashChain.Link link) {
        JsonObject row = new JsonObject()
                .put("tenant_id", segment.tenant().value())
                .put("seq", link.number())
                .put("id", segment.id().toString())
                .put("pool", segment.pool().value())
                .put("class", EnumNames.of(segment.usageClass()))
                .put("gpu_milli", segment.gpuMilli())
                .put("from_ms", segment.fromMillis())
                .put("to_ms", segment.toMillis())
                .put("format", link.formatVersion())
                .put("prev_hash", link.previous().hex())
                .put("hash", link.hash().hex());
        segment.held().ifPresent(held -> {
            AllocationMarks allocationMarks = held.marks();
            row.put("standing", EnumNames.of(held.standing()))
                    .put("phase", EnumNames.of(held.phase()))
                    .put("preemptible", allocationMarks.preemptible())
                    .put("allocation_id", held.allocation().value())
                    .put("attempt_id", allocationMarks.attempt())
                    .put("workload_id", allocationMarks.workload())
                    .put("policy_id", allocationMarks.policy().value())
                    .put("group_path", allocationMarks.group())
                    .put("profile", allocationMarks.profile())
                    .put("queue", allocationMarks.queue())
                    .put("submitted_by", allocationMarks.user())
                    .put("cluster", allocationMarks.cluster());
        });
        return row;
    }
}
