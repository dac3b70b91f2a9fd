package io.quartermaster.dispatch.read;

import io.quartermaster.dispatch.lifecycle.RetryBackoff;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.LiveAttempt;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.PausedWork;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.Submitter;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.Terms;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.governance.rules.PreemptionAction;
import io.quartermaster.governance.rules.Profile;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.DatabaseFailures;
import io.quartermaster.platform.db.SystemTransaction;
import io.quartermaster.workloads.DesiredState;
import io.quartermaster.workloads.WorkloadState;
import io.vertx.core.json.JsonObject;
import io.vertx.mutiny.sqlclient.Row;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Reads workloads as the leader needs them, with a few set-based statements for any number of workloads. */
public final class CellReader {

    private static final String ALL_WORKLOADS = """
            select w.tenant_id, w.id, w.seq, w.submitted_by, coalesce(w.submitter, w.submitted_by) as submitter,
                w.priority, w.preemptible, w.dedicated_only, w.max_runtime_ms, w.submitted_at,
                   w.wish, w.stop_by, w.state, w.attempts, w.at_head_since, w.place, w.quick_losses, w.retry_at,
                   p.id as policy_id, p.group_path, p.on_preemption, least(p.grace_ms, l.max_grace_ms) as grace_ms,
                       q.id as queue_id, q.name as queue_name, q.state = 'held' and q.retired_at is null
                       as queue_held, q.over_quota,
                   f.id as profile_id, f.name as profile_name, asked_gpu_milli(w.gpus, f.gpu_milli, f.max_gpus)
                       as gpu_milli,
                   case when w.min_gpus is not null and f.max_gpus is not null then asked_gpu_milli(w.min_gpus,
                       f.gpu_milli, f.max_gpus) end as fewest_gpu_milli, f.gpu_devices, f.gpu_memory_mib, f.mig,
                       f.workers, f.min_workers, f.cpu_milli, f.memory_mib, f.node_labels, f.required_level,
                       f.preferred_level, f.slice_workers, f.slice_level, f.pool_ids, f.moves_back,
                   f.max_runtime_ms as profile_max_runtime_ms,
                   a.id as attempt_id, a.number, a.state as attempt_state, a.pool_id, a.gpu_milli
                       as attempt_gpu_milli, a.bound_at, a.from_reservation,
                   a.started_at, a.stop_reason, a.deadline_at, n.body as nomination,
                   w.paused_attempt, w.paused_node, w.paused_until, s.paused_pool, s.paused_gpu_milli,
                       s.paused_report, s.paused_may_stay
              from workload w
              join policy p on p.tenant_id = w.tenant_id and p.id = w.policy_id
              join queue q on q.tenant_id = w.tenant_id and q.id = w.queue_id
              join profile f on f.tenant_id = w.tenant_id and f.id = w.profile_id
              left join attempt a on a.tenant_id = w.tenant_id and a.workload_id = w.id and a.state <> 'ended'
                  and a.worker is null
              left join pool l on l.id = a.pool_id
              left join nomination n on n.tenant_id = w.tenant_id and n.workload_id = w.id
              -- With a limit, so that it is looked up for those few alone, however many are read.
              left join lateral (
                  select b.pool_id as paused_pool, b.gpu_milli as paused_gpu_milli, r.state as paused_report,
                         x.retired_at is null and x.schedulable and c.lost_at is null
                             and t.state = 'active' as paused_may_stay
                    from attempt b
                    join tenant t on t.id = b.tenant_id
                    join node x on x.id = w.paused_node
                    left join node_contact c on c.node_id = x.id
                    left join report r on r.tenant_id = b.tenant_id and r.attempt_id = b.id and r.node_id = x.id
                   where w.paused_attempt is not null and b.tenant_id = w.tenant_id and b.id = w.paused_attempt
                       limit 1) s on true
             where true
            """;

    private static final String IS_LIVE = " and w.state not in ('succeeded', 'failed', 'cancelled')";

    private static final String IS_QUARANTINED =
            " and (w.set_aside_at is not null or w.tenant_id in (select id from tenant where set_aside_at is not null))";

    /** The workloads that plans include. */
    private static final String WORKLOADS = ALL_WORKLOADS
            + " and w.set_aside_at is null and w.tenant_id not in (select id from tenant where set_aside_at is "
            + "not null)";

    private final SystemTransaction transaction;
    private final TermsInterner shared;
    private final long nowMillis;

    /** @param nowMillis the stamp: all times are compared with it, and with no other clock */
    public CellReader(SystemTransaction transaction, long nowMillis) {
        this(transaction, new TermsInterner(), nowMillis);
    }

    /** @param shared holds the values that the reader's records share */
    public CellReader(SystemTransaction transaction, TermsInterner shared, long nowMillis) {
        this.transaction = transaction;
        this.shared = shared;
        this.nowMillis = nowMillis;
    }

    /**
     * The result of reading some workloads.
     *
     * @param unreadable the sequence numbers of rows that this version cannot read as workloads
     */
    public record Readable(List<WorkloadRecord> records, List<Long> unreadable) {}

    /** All live workloads, quarantined or not. */
    public Readable readLive() {
        return toReadable(transaction.run(ALL_WORKLOADS + IS_LIVE + " order by w.seq"));
    }

    /** The live workloads that plans leave out. */
    public Readable readQuarantined() {
        return toReadable(transaction.run(ALL_WORKLOADS + IS_LIVE + IS_QUARANTINED + " order by w.seq"));
    }

    /** The live workloads up to this sequence number, in order of submission. */
    public List<WorkloadRecord> readLiveThrough(long throughSequence) {
        return toRecords(transaction.run(WORKLOADS + IS_LIVE + " and w.seq <= $1 order by w.seq", throughSequence));
    }

    /** The sequence numbers of all workloads that {@link #readLiveThrough} would read. */
    public long[] liveSequences() {
        List<Long> found = new ArrayList<>();
        transaction
                .run("select seq from workload where state not in ('succeeded', 'failed', 'cancelled') and "
                        + "set_aside_at is null"
                        + " and tenant_id not in (select id from tenant where set_aside_at is not null) "
                        + "order by seq")
                .forEach(row -> found.add(row.getLong("seq")));
        return found.stream().mapToLong(Long::longValue).toArray();
    }

    /** The sequence numbers of the workloads that {@link #readLiveThrough} would read but cannot. */
    public List<Long> unreadableSequences() {
        return toReadable(transaction.run(WORKLOADS + IS_LIVE + " order by w.seq"))
                .unreadable();
    }

    /** These workloads, over or not, in order of submission. */
    public List<WorkloadRecord> readByIds(Collection<UUID> ids) {
        return ids.isEmpty()
                ? List.of()
                : toRecords(transaction.run(WORKLOADS + " and w.id = any($1) order by w.seq", (Object) array(ids)));
    }

    /** The waiting workloads of a policy, profile or queue: the engine must receive the changes that affect them. */
    public List<WorkloadRecord> readWaiting(String column, Collection<UUID> ids) {
        String where =
                switch (column) {
                    case "policy_id", "profile_id", "queue_id" -> " and w." + column + " = any($1)";
                    default -> throw new IllegalArgumentException("unknown column: " + column);
                };
        return ids.isEmpty()
                ? List.of()
                : toRecords(transaction.run(
                        WORKLOADS + where + " and w.state in ('waiting', 'held', 'paused') order by w.seq",
                        (Object) array(ids)));
    }

    /** The workloads with paused processes on one of these nodes, or of one of these tenants. */
    public List<WorkloadRecord> readPaused(Collection<UUID> nodes, Collection<TenantId> tenants) {
        return nodes.isEmpty() && tenants.isEmpty()
                ? List.of()
                : toRecords(transaction.run(
                        WORKLOADS
                                + " and w.paused_attempt is not null and (w.paused_node = any($1) or w.tenant_id "
                                + "= any($2)) order by w.seq",
                        array(nodes),
                        tenants.stream().map(TenantId::value).toArray(String[]::new)));
    }

    /** The workloads that hold devices of one of these nodes. */
    public List<WorkloadRecord> readOnNodes(Collection<UUID> nodes) {
        return nodes.isEmpty() ? List.of() : toRecords(transaction.run(WORKLOADS + """
                                   and w.id in (select x.workload_id from allocation_device d
                                                  join attempt x on x.tenant_id = d.tenant_id and x.id = d.attempt_id
                                                 where d.node_id = any($1) and d.freed_at is null)
                                 order by w.seq
                                """, (Object) array(nodes)));
    }

    private List<WorkloadRecord> toRecords(Iterable<Row> rows) {
        List<Row> found = new ArrayList<>();
        rows.forEach(found::add);
        return toRecords(found);
    }

    private List<WorkloadRecord> toRecords(List<Row> found) {
        LiveAttempts attempts = LiveAttempts.read(transaction, found);
        WaitingAmounts amounts = WaitingAmounts.read(transaction, found);
        List<WorkloadRecord> records = new ArrayList<>(found.size());
        for (Row row : found) {
            records.add(
                    record(row, shared.intern(terms(row, amounts)), shared.intern(submitter(row)), attempts.of(row)));
        }
        return records;
    }

    private Readable toReadable(Iterable<Row> rows) {
        List<Row> found = new ArrayList<>();
        rows.forEach(found::add);
        Readable readable = new Readable(new ArrayList<>(), new ArrayList<>());
        read(found, readable);
        return readable;
    }

    /** Reads all rows in one step. If that fails, it reads them by halves until the unreadable ones are found. */
    private void read(List<Row> rows, Readable into) {
        try {
            into.records().addAll(toRecords(rows));
        } catch (RuntimeException e) {
            if (DatabaseFailures.isTransient(e) || DatabaseFailures.isRefusal(e)) {
                throw e;
            }
            if (rows.size() == 1) {
                into.unreadable().add(rows.getFirst().getLong("seq"));
                return;
            }
            int half = rows.size() / 2;
            read(rows.subList(0, half), into);
            read(rows.subList(half, rows.size()), into);
        }
    }

    private static Submitter submitter(Row row) {
        return new Submitter(row.getString("submitter"), row.getString("submitted_by"));
    }

    private WorkloadRecord record(Row row, Terms terms, Submitter submitter, Optional<LiveAttempt> live) {
        JsonObject nomination = row.getJsonObject("nomination");
        return new WorkloadRecord(
                new TenantId(row.getString("tenant_id")),
                row.getUUID("id"),
                row.getLong("seq"),
                terms,
                submitter,
                row.getInteger("priority"),
                row.getBoolean("preemptible"),
                row.getBoolean("dedicated_only"),
                shorter(row.getLong("max_runtime_ms"), row.getLong("profile_max_runtime_ms")),
                millis(row.getOffsetDateTime("submitted_at")),
                DesiredState.of(row.getString("wish")),
                optionalMillis(row.getOffsetDateTime("stop_by")),
                WorkloadState.of(row.getString("state")),
                row.getInteger("attempts"),
                optionalMillis(row.getOffsetDateTime("at_head_since")),
                optional(row.getInteger("place")),
                new RetryBackoff(row.getInteger("quick_losses"), optionalMillis(row.getOffsetDateTime("retry_at"))),
                live,
                paused(row),
                nomination == null ? Optional.empty() : Optional.of(nomination.encode()));
    }

    private Optional<PausedWork> paused(Row row) {
        UUID attempt = row.getUUID("paused_attempt");
        if (attempt == null) {
            return Optional.empty();
        }
        String report = row.getString("paused_report");
        PausedWork.Processes processes =
                switch (report == null ? "" : report) {
                    case "paused" -> PausedWork.Processes.SUSPENDED;
                    case "ended" -> PausedWork.Processes.ENDED;
                    default -> PausedWork.Processes.ENDING;
                };
        long untilMillis = millis(row.getOffsetDateTime("paused_until"));
        return Optional.of(new PausedWork(
                attempt,
                row.getUUID("paused_node"),
                row.getUUID("paused_pool"),
                row.getLong("paused_gpu_milli"),
                untilMillis,
                processes,
                untilMillis > nowMillis && Boolean.TRUE.equals(row.getBoolean("paused_may_stay"))));
    }

    private static Terms terms(Row row, WaitingAmounts amounts) {
        Map<String, String> labels = new TreeMap<>();
        row.getJsonObject("node_labels").forEach(entry -> labels.put(entry.getKey(), String.valueOf(entry.getValue())));
        return new Terms(
                row.getUUID("policy_id"),
                row.getString("group_path"),
                PreemptionAction.valueOf(row.getString("on_preemption").toUpperCase(Locale.ROOT)),
                row.getLong("grace_ms"),
                row.getUUID("queue_id"),
                row.getBoolean("queue_held"),
                row.getBoolean("over_quota"),
                row.getUUID("profile_id"),
                row.getString("profile_name"),
                row.getString("queue_name"),
                gpus(row),
                amounts.of(row),
                row.getInteger("workers"),
                row.getInteger("min_workers"),
                row.getLong("cpu_milli"),
                row.getLong("memory_mib"),
                labels,
                Profile.Topology.of(
                        row.getString("required_level"),
                        row.getString("preferred_level"),
                        row.getInteger("slice_workers"),
                        row.getString("slice_level")),
                Arrays.asList(row.getArrayOfUUIDs("pool_ids")),
                row.getBoolean("moves_back"));
    }

    /** A range is of whole GPUs, so only there a worker can take fewer. */
    private static GpuRequest gpus(Row row) {
        GpuRequest asked = Profile.gpus(
                row.getLong("gpu_milli"),
                row.getInteger("gpu_devices"),
                row.getLong("gpu_memory_mib"),
                row.getString("mig"));
        Long fewest = row.getLong("fewest_gpu_milli");
        return fewest != null && asked instanceof GpuRequest.Whole whole
                ? new GpuRequest.Whole(whole.count(), Math.toIntExact(Math.min(whole.count(), fewest / 1_000)))
                : asked;
    }

    public static UUID[] array(Collection<UUID> ids) {
        return ids.toArray(UUID[]::new);
    }

    public static long millis(OffsetDateTime time) {
        return time.toInstant().toEpochMilli();
    }

    static OptionalLong optionalMillis(@Nullable OffsetDateTime time) {
        return time == null ? OptionalLong.empty() : OptionalLong.of(millis(time));
    }

    static OptionalLong optional(@Nullable Integer value) {
        return value == null ? OptionalLong.empty() : OptionalLong.of(value);
    }

    private static OptionalLong shorter(@Nullable Long one, @Nullable Long other) {
        if (one == null) {
            return other == null ? OptionalLong.empty() : OptionalLong.of(other);
        }
        return OptionalLong.of(other == null ? one : Math.min(one, other));
    }
}
