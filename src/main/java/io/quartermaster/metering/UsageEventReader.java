package io.quartermaster.metering;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectReader;
import io.quartermaster.ledger.AllocationId;
import io.quartermaster.ledger.AllocationMarks;
import io.quartermaster.ledger.Phase;
import io.quartermaster.ledger.PolicyId;
import io.quartermaster.ledger.PoolKey;
import io.quartermaster.ledger.TenantKey;
import io.quartermaster.ledger.UsageEvent;
import io.quartermaster.platform.EnumNames;
import io.smallrye.mutiny.Uni;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Reads {@code usage_event} strictly: a row without the values that its kind requires is an error, not a gap. */
public final class UsageEventReader {

    /** The version of the rows that this program reads. */
    static final int FORMAT = 1;

    private static final int PAGE_SIZE = 5_000;

    /** The marks in the form in which {@code dispatch} writes them. */
    private record StoredMarks(
            String policy,
            String group,
            String profile,
            String queue,
            String workload,
            String attempt,
            String user,
            String cluster,
            boolean preemptible) {
        AllocationMarks marks() {
            return new AllocationMarks(
                    new PolicyId(policy), group, profile, queue, workload, attempt, user, cluster, preemptible);
        }
    }

    private static final ObjectReader MARKS = BookStateJson.reader(StoredMarks.class);

    private UsageEventReader() {}

    /**
     * A tenant's events with a number above {@code afterSeq} up to {@code throughSeq}, in order.
     *
     * @param limit more events than this end the read with {@link TooManyEvents}
     */
    public static Uni<List<UsageEvent>> read(
            UsageQuery usageQuery, String tenant, long afterSeq, long throughSeq, int limit) {
        return readPages(usageQuery, tenant, afterSeq, throughSeq, limit, new ArrayList<>());
    }

    /** The open part of a tenant's usage is longer than one reader may read: closing is far behind. */
    static final class TooManyEvents extends RuntimeException {
        private static final long serialVersionUID = 1L;

        TooManyEvents(String tenant, int limit) {
            super("more than " + limit + " usage events of tenant " + tenant + " are not closed yet");
        }
    }

    private static Uni<List<UsageEvent>> readPages(
            UsageQuery usageQuery, String tenant, long afterSeq, long throughSeq, int limit, List<UsageEvent> read) {
        return usageQuery.rows("""
                        select seq, cast(format as bigint), tenant_id, at_ms, kind, pool, cast(allocation_id
                            as text), cast(policy_id as text),
                               gpu_milli, phase, since_ms, cast(marks as text)
                          from usage_event where tenant_id = $1 and seq > $2 and seq <= $3 order by seq limit 5000
                        """, tenant, afterSeq, throughSeq).chain(rows -> {
            rows.forEach(row -> read.add(parseEvent(new UsageQuery.Reader(row))));
            if (read.size() > limit) {
                return Uni.createFrom().failure(new TooManyEvents(tenant, limit));
            }
            return rows.size() < PAGE_SIZE
                    ? Uni.createFrom().item(read)
                    : readPages(usageQuery, tenant, read.getLast().seq(), throughSeq, limit, read);
        });
    }

    private static UsageEvent parseEvent(UsageQuery.Reader row) {
        long seq = row.number("seq");
        try {
            long format = row.number("format");
            if (format != FORMAT) {
                throw new IllegalStateException("its format is " + format + ", but this program reads " + FORMAT);
            }
            return parseEvent(
                    seq,
                    new TenantKey(row.text("tenant_id")),
                    row.number("at_ms"),
                    row.text("kind"),
                    new PoolKey(row.text("pool")),
                    row.textOrNull(),
                    row.textOrNull(),
                    row.numberOrNull(),
                    row.textOrNull(),
                    row.numberOrNull(),
                    row.textOrNull());
        } catch (RuntimeException e) {
            throw new IllegalStateException("usage event " + seq + " cannot be read: " + e.getMessage(), e);
        }
    }

    private static UsageEvent parseEvent(
            long seq,
            TenantKey tenant,
            long atMillis,
            String kind,
            PoolKey pool,
            @Nullable String allocation,
            @Nullable String policy,
            @Nullable Long gpuMilli,
            @Nullable String phase,
            @Nullable Long sinceMillis,
            @Nullable String marks) {
        return switch (kind) {
            case "allocated" ->
                new UsageEvent.Allocated(
                        atMillis,
                        seq,
                        tenant,
                        new AllocationId(requireColumn(allocation, "allocation_id")),
                        pool,
                        requireColumn(gpuMilli, "gpu_milli"),
                        parseMarks(requireColumn(marks, "marks"), requireColumn(policy, "policy_id")));
            case "phase" ->
                new UsageEvent.PhaseChanged(
                        atMillis,
                        seq,
                        tenant,
                        new AllocationId(requireColumn(allocation, "allocation_id")),
                        EnumNames.stored(Phase.class, requireColumn(phase, "phase")),
                        requireColumn(sinceMillis, "since_ms"));
            case "freed" ->
                new UsageEvent.Freed(
                        atMillis, seq, tenant, new AllocationId(requireColumn(allocation, "allocation_id")));
            case "tenant-reserved" ->
                new UsageEvent.TenantReserved(atMillis, seq, tenant, pool, requireColumn(gpuMilli, "gpu_milli"));
            case "policy-reserved" ->
                new UsageEvent.PolicyReserved(
                        atMillis,
                        seq,
                        tenant,
                        new PolicyId(requireColumn(policy, "policy_id")),
                        pool,
                        requireColumn(gpuMilli, "gpu_milli"));
            case "unmet" -> new UsageEvent.Unmet(atMillis, seq, tenant, pool, requireColumn(gpuMilli, "gpu_milli"));
            default -> throw new IllegalStateException("there is no kind " + kind);
        };
    }

    private static AllocationMarks parseMarks(String json, String policy) {
        try {
            StoredMarks stored = MARKS.readValue(json);
            if (!Objects.equals(stored.policy(), policy)) {
                throw new IllegalStateException(
                        "its marks name policy " + stored.policy() + ", but its row names policy " + policy);
            }
            return stored.marks();
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("its marks are invalid: " + e.getOriginalMessage(), e);
        }
    }

    private static <T> T requireColumn(@Nullable T value, String column) {
        if (value == null) {
            throw new IllegalStateException("it has no " + column);
        }
        return value;
    }
}
