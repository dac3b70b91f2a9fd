package io.quartermaster.dispatch;

import io.quartermaster.dispatch.WorkloadRecord.Device;
import io.quartermaster.dispatch.WorkloadRecord.LiveAttempt;
import io.quartermaster.dispatch.WorkloadRecord.PausedWork;
import io.quartermaster.dispatch.WorkloadRecord.Report;
import io.quartermaster.dispatch.WorkloadRecord.Submitter;
import io.quartermaster.dispatch.WorkloadRecord.Surplus;
import io.quartermaster.dispatch.WorkloadRecord.SurplusWorker;
import io.quartermaster.dispatch.WorkloadRecord.Terms;
import io.quartermaster.engine.Allocation.MigInstance;
import io.quartermaster.engine.GpuRequest;
import io.quartermaster.governance.OnPreemption;
import io.quartermaster.governance.Profile;
import io.quartermaster.platform.SystemTransaction;
import io.quartermaster.platform.TenantId;
import io.quartermaster.workloads.AttemptOutcome;
import io.quartermaster.workloads.AttemptState;
import io.quartermaster.workloads.Wish;
import io.quartermaster.workloads.WorkloadState;
import io.vertx.core.json.JsonObject;
import io.vertx.mutiny.sqlclient.Row;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** Reads workloads as the leader needs them: a few set-based statements, however many are asked for. */
final class CellReader {

    private static final String WORKLOADS = """
            select w.tenant_id, w.id, w.seq, w.submitted_by, coalesce(w.submitter, w.submitted_by) as submitter, w.priority, w.preemptible, w.dedicated_only, w.max_runtime_ms, w.submitted_at,
                   w.wish, w.state, w.attempts, w.at_head_since, w.place, w.quick_losses, w.retry_at,
                   p.id as policy_id, p.group_path, p.on_preemption, p.grace_ms, q.id as queue_id, q.name as queue_name, q.state = 'held' and q.retired_at is null as queue_held, q.over_quota,
                   f.id as profile_id, f.name as profile_name, asked_gpu_milli(w.gpus, f.gpu_milli, f.max_gpus) as gpu_milli,
                   case when w.min_gpus is not null and f.max_gpus is not null then asked_gpu_milli(w.min_gpus, f.gpu_milli, f.max_gpus) end as fewest_gpu_milli, f.gpu_devices, f.gpu_memory_mib, f.mig, f.workers, f.min_workers, f.cpu_milli, f.memory_mib, f.node_labels, f.required_level, f.preferred_level, f.slice_workers, f.slice_level, f.pool_ids, f.moves_back,
                   f.max_runtime_ms as profile_max_runtime_ms,
                   a.id as attempt_id, a.number, a.state as attempt_state, a.pool_id, a.gpu_milli as attempt_gpu_milli, a.bound_at,
                   a.started_at, a.stop_reason, a.deadline_at, n.body as nomination,
                   w.paused_attempt, w.paused_node, w.paused_until, s.paused_pool, s.paused_gpu_milli, s.paused_report, s.paused_may_stay
              from workload w
              join policy p on p.tenant_id = w.tenant_id and p.id = w.policy_id
              join queue q on q.tenant_id = w.tenant_id and q.id = w.queue_id
              join profile f on f.tenant_id = w.tenant_id and f.id = w.profile_id
              left join attempt a on a.tenant_id = w.tenant_id and a.workload_id = w.id and a.state <> 'ended' and a.worker is null
              left join nomination n on n.tenant_id = w.tenant_id and n.workload_id = w.id
              -- With a limit, so that it is looked up for those few alone, however many are read.
              left join lateral (
                  select b.pool_id as paused_pool, b.gpu_milli as paused_gpu_milli, r.state as paused_report,
                         w.paused_until > clock_timestamp() and x.retired_at is null and x.schedulable and c.lost_at is null
                             and t.state = 'active' as paused_may_stay
                    from attempt b
                    join tenant t on t.id = b.tenant_id
                    join node x on x.id = w.paused_node
                    left join node_contact c on c.node_id = x.id
                    left join report r on r.tenant_id = b.tenant_id and r.attempt_id = b.id and r.node_id = x.id
                   where w.paused_attempt is not null and b.tenant_id = w.tenant_id and b.id = w.paused_attempt limit 1) s on true
             where w.set_aside_at is null and w.tenant_id not in (select id from tenant where set_aside_at is not null)
            """;

    private final SystemTransaction transaction;
    private final SharedTerms shared;

    CellReader(SystemTransaction transaction) {
        this(transaction, new SharedTerms());
    }

    /** @param shared what its reader keeps of each workload refers to */
    CellReader(SystemTransaction transaction, SharedTerms shared) {
        this.transaction = transaction;
        this.shared = shared;
    }

    /** Everything that is not over, in order of submission, up to this sequence number. */
    List<WorkloadRecord> live(long throughSequence) {
        return complete(transaction.run(
                WORKLOADS + " and w.state not in ('succeeded', 'failed', 'cancelled') and w.seq <= $1 order by w.seq",
                throughSequence));
    }

    /** The sequence numbers of all that {@link #live} would read. */
    long[] liveSequences() {
        List<Long> found = new ArrayList<>();
        transaction
                .run(
                        "select seq from workload where state not in ('succeeded', 'failed', 'cancelled') and set_aside_at is null"
                                + " and tenant_id not in (select id from tenant where set_aside_at is not null) order by seq")
                .forEach(row -> found.add(row.getLong("seq")));
        return found.stream().mapToLong(Long::longValue).toArray();
    }

    /** The sequence numbers of those that {@link #live} would read and cannot. */
    List<Long> unreadable() {
        List<Long> unreadable = new ArrayList<>();
        complete(
                transaction.run(WORKLOADS + " and w.state not in ('succeeded', 'failed', 'cancelled') order by w.seq"),
                (row, failure) -> unreadable.add(row.getLong("seq")));
        return unreadable;
    }

    /** These, over or not, in order of submission. */
    List<WorkloadRecord> workloads(Collection<UUID> ids) {
        return ids.isEmpty()
                ? List.of()
                : complete(transaction.run(WORKLOADS + " and w.id = any($1) order by w.seq", (Object) array(ids)));
    }

    /** Those of a policy, profile or queue that wait: what changed for them must be told to the engine. */
    List<WorkloadRecord> waitingUnder(String column, Collection<UUID> ids) {
        String where =
                switch (column) {
                    case "policy_id", "profile_id", "queue_id" -> " and w." + column + " = any($1)";
                    default -> throw new IllegalArgumentException("no such column: " + column);
                };
        return ids.isEmpty()
                ? List.of()
                : complete(transaction.run(
                        WORKLOADS + where + " and w.state in ('waiting', 'held', 'paused') order by w.seq",
                        (Object) array(ids)));
    }

    /** Those with paused processes on one of these nodes, or of one of these tenants. */
    List<WorkloadRecord> paused(Collection<UUID> nodes, Collection<TenantId> tenants) {
        return nodes.isEmpty() && tenants.isEmpty()
                ? List.of()
                : complete(transaction.run(
                        WORKLOADS
                                + " and w.paused_attempt is not null and (w.paused_node = any($1) or w.tenant_id = any($2)) order by w.seq",
                        array(nodes),
                        tenants.stream().map(TenantId::value).toArray(String[]::new)));
    }

    /** Those that hold devices of one of these nodes. */
    List<WorkloadRecord> on(Collection<UUID> nodes) {
        return nodes.isEmpty() ? List.of() : complete(transaction.run(WORKLOADS + """
                                   and w.id in (select x.workload_id from allocation_device d
                                                  join attempt x on x.tenant_id = d.tenant_id and x.id = d.attempt_id
                                                 where d.node_id = any($1) and d.freed_at is null)
                                 order by w.seq
                                """, (Object) array(nodes)));
    }

    private List<WorkloadRecord> complete(Iterable<Row> rows) {
        return complete(rows, (row, failure) -> {
            throw failure;
        });
    }

    /** @param unreadable is told of each row that is none of a workload as this version knows them */
    private List<WorkloadRecord> complete(Iterable<Row> rows, BiConsumer<Row, RuntimeException> unreadable) {
        List<Row> found = new ArrayList<>();
        List<UUID> attempts = new ArrayList<>();
        List<UUID> elastic = new ArrayList<>();
        for (Row row : rows) {
            found.add(row);
            UUID attempt = row.getUUID("attempt_id");
            if (attempt != null) {
                attempts.add(attempt);
                if (row.getInteger("min_workers") < row.getInteger("workers")) {
                    elastic.add(attempt);
                }
            }
        }
        List<Row> surplus = surplus(elastic);
        surplus.stream()
                .filter(row -> !row.getString("state").equals("ended"))
                .forEach(row -> attempts.add(row.getUUID("id")));
        Held held = new Held(devices(attempts), reports(attempts));
        Map<UUID, Surplus> bySurplus = held.surplus(surplus);
        Map<MemoryShare, Long> counts = counts(found);
        List<WorkloadRecord> records = new ArrayList<>(found.size());
        for (Row row : found) {
            try {
                records.add(record(row, counts, held, bySurplus));
            } catch (RuntimeException e) {
                unreadable.accept(row, e);
            }
        }
        return records;
    }

    private WorkloadRecord record(Row row, Map<MemoryShare, Long> counts, Held held, Map<UUID, Surplus> bySurplus) {
        UUID attempt = row.getUUID("attempt_id");
        return record(
                row,
                shared.share(terms(row, counts)),
                shared.share(submitter(row)),
                attempt == null
                        ? Optional.empty()
                        : Optional.of(held.core(row, attempt, bySurplus.getOrDefault(attempt, Surplus.NONE))));
    }

    /** The attempts of surplus workers, over or not, that belong to these attempts. */
    private List<Row> surplus(List<UUID> cores) {
        List<Row> rows = new ArrayList<>();
        if (!cores.isEmpty()) {
            transaction.run("""
                    select c.id as core_id, s.id, s.number, s.worker, s.state, s.outcome, s.pool_id, s.gpu_milli, s.bound_at, s.started_at,
                           s.stop_reason, s.deadline_at, s.ended_at
                      from attempt c join attempt s on s.tenant_id = c.tenant_id and s.workload_id = c.workload_id and s.number = c.number
                     where c.id = any($1) and s.worker is not null order by c.id, s.worker, s.id
                    """, (Object) array(cores)).forEach(rows::add);
        }
        return rows;
    }

    /** What live attempts hold, and what was said of them. */
    private record Held(Map<UUID, List<Device>> devices, Map<UUID, List<Report>> reports) {

        LiveAttempt core(Row row, UUID id, Surplus surplus) {
            return attempt(row, id, row.getString("attempt_state"), row.getLong("attempt_gpu_milli"), surplus);
        }

        Map<UUID, Surplus> surplus(List<Row> rows) {
            Map<UUID, Surplus> byCore = new HashMap<>();
            Map<UUID, Integer> quickLosses = new HashMap<>();
            for (Row row : rows) {
                UUID core = row.getUUID("core_id");
                int losses = quickLosses.merge(core, isQuickLoss(row) ? 1 : 0, Integer::sum);
                Surplus before = byCore.getOrDefault(core, Surplus.NONE);
                byCore.put(core, with(before, row, losses));
            }
            return byCore;
        }

        private static boolean isQuickLoss(Row row) {
            return "lost".equals(row.getString("outcome"))
                    && Setbacks.isQuick(
                            millis(row.getOffsetDateTime("bound_at")), millis(row.getOffsetDateTime("ended_at")));
        }

        /** @param quickLosses of the attempt's surplus workers up to this one */
        private Surplus with(Surplus before, Row row, int quickLosses) {
            if (row.getString("state").equals("ended")) {
                AttemptOutcome outcome = AttemptOutcome.of(row.getString("outcome"));
                boolean again = !Transitions.isForGood(outcome)
                        && !(isQuickLoss(row) && quickLosses >= Setbacks.SURPLUS_LOSSES);
                return before.having(row.getInteger("worker"), !again);
            }
            return before.and(new SurplusWorker(
                    row.getInteger("worker"),
                    attempt(row, row.getUUID("id"), row.getString("state"), row.getLong("gpu_milli"), Surplus.NONE)));
        }

        private LiveAttempt attempt(Row row, UUID id, String state, long gpuMilli, Surplus surplus) {
            return new LiveAttempt(
                    id,
                    row.getInteger("number"),
                    live(state),
                    row.getUUID("pool_id"),
                    gpuMilli,
                    millis(row.getOffsetDateTime("bound_at")),
                    optionalMillis(row.getOffsetDateTime("started_at")),
                    Optional.ofNullable(row.getString("stop_reason")).map(StopReason::of),
                    optionalMillis(row.getOffsetDateTime("deadline_at")),
                    List.copyOf(devices.getOrDefault(id, List.of())),
                    List.copyOf(reports.getOrDefault(id, List.of())),
                    surplus);
        }
    }

    private Map<UUID, List<Device>> devices(List<UUID> attempts) {
        Map<UUID, List<Device>> byAttempt = new HashMap<>();
        if (attempts.isEmpty()) {
            return byAttempt;
        }
        for (Row row : transaction.run("""
                select attempt_id, worker, node_id, device_index, gpu_milli, mig, mig_first from allocation_device
                 where attempt_id = any($1) order by attempt_id, worker, device_index
                """, (Object) array(attempts))) {
            byAttempt
                    .computeIfAbsent(row.getUUID("attempt_id"), id -> new ArrayList<>())
                    .add(new Device(
                            row.getInteger("worker"),
                            Optional.ofNullable(row.getUUID("node_id")),
                            optional(row.getInteger("device_index")),
                            row.getLong("gpu_milli"),
                            instance(row)));
        }
        return byAttempt;
    }

    private Map<UUID, List<Report>> reports(List<UUID> attempts) {
        Map<UUID, List<Report>> byAttempt = new HashMap<>();
        if (attempts.isEmpty()) {
            return byAttempt;
        }
        for (Row row : transaction.run(
                "select attempt_id, node_id, state, outcome, exit_code, message from report where attempt_id = any($1) order by attempt_id, node_id",
                (Object) array(attempts))) {
            byAttempt
                    .computeIfAbsent(row.getUUID("attempt_id"), id -> new ArrayList<>())
                    .add(new Report(
                            row.getUUID("node_id"),
                            reported(row),
                            Optional.ofNullable(row.getInteger("exit_code")),
                            row.getString("message") == null ? "" : row.getString("message")));
        }
        return byAttempt;
    }

    private static Optional<MigInstance> instance(Row row) {
        return Optional.ofNullable(row.getString("mig"))
                .map(profile -> new MigInstance(profile, row.getInteger("mig_first")));
    }

    /** Whoever ended without saying how was not seen to end. */
    private static AttemptState reported(Row row) {
        String state = row.getString("state");
        String outcome = row.getString("outcome");
        return switch (state) {
            case "ended" -> new AttemptState.Ended(outcome == null ? AttemptOutcome.LOST : AttemptOutcome.of(outcome));
            case "paused" -> new AttemptState.Ended(AttemptOutcome.PAUSED);
            default -> AttemptState.of(state, Optional.empty());
        };
    }

    private static AttemptState.Live live(String state) {
        if (AttemptState.of(state, Optional.empty()) instanceof AttemptState.Live live) {
            return live;
        }
        throw new IllegalStateException("an attempt that is over was read as a live one");
    }

    private static Submitter submitter(Row row) {
        return new Submitter(row.getString("submitter"), row.getString("submitted_by"));
    }

    private static WorkloadRecord record(Row row, Terms terms, Submitter submitter, Optional<LiveAttempt> live) {
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
                Wish.of(row.getString("wish")),
                WorkloadState.of(row.getString("state")),
                row.getInteger("attempts"),
                optionalMillis(row.getOffsetDateTime("at_head_since")),
                optional(row.getInteger("place")),
                new Setbacks(row.getInteger("quick_losses"), optionalMillis(row.getOffsetDateTime("retry_at"))),
                live,
                paused(row),
                nomination == null ? Optional.empty() : Optional.of(nomination.encode()));
    }

    private static Optional<PausedWork> paused(Row row) {
        UUID attempt = row.getUUID("paused_attempt");
        if (attempt == null) {
            return Optional.empty();
        }
        String report = row.getString("paused_report");
        PausedWork.Processes processes =
                switch (report == null ? "" : report) {
                    case "paused" -> PausedWork.Processes.STAND_STILL;
                    case "ended" -> PausedWork.Processes.OVER;
                    default -> PausedWork.Processes.BEING_ENDED;
                };
        return Optional.of(new PausedWork(
                attempt,
                row.getUUID("paused_node"),
                row.getUUID("paused_pool"),
                row.getLong("paused_gpu_milli"),
                millis(row.getOffsetDateTime("paused_until")),
                processes,
                Boolean.TRUE.equals(row.getBoolean("paused_may_stay"))));
    }

    private static Terms terms(Row row, Map<MemoryShare, Long> counts) {
        Map<String, String> labels = new TreeMap<>();
        row.getJsonObject("node_labels").forEach(entry -> labels.put(entry.getKey(), String.valueOf(entry.getValue())));
        return new Terms(
                row.getUUID("policy_id"),
                row.getString("group_path"),
                OnPreemption.valueOf(row.getString("on_preemption").toUpperCase(Locale.ROOT)),
                row.getLong("grace_ms"),
                row.getUUID("queue_id"),
                row.getBoolean("queue_held"),
                row.getBoolean("over_quota"),
                row.getUUID("profile_id"),
                row.getString("profile_name"),
                row.getString("queue_name"),
                gpus(row),
                waiting(row, counts),
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

    /** A range is of whole GPUs, so only there somebody takes fewer. */
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

    /** What one worker counts as while it waits, by pool in the order of the profile. */
    private static List<Long> waiting(Row row, Map<MemoryShare, Long> counts) {
        List<MemoryShare> shares = memoryShares(row);
        return shares.isEmpty()
                ? Collections.nCopies(row.getArrayOfUUIDs("pool_ids").length, row.getLong("gpu_milli"))
                : shares.stream()
                        .map(share -> Objects.requireNonNull(counts.get(share)))
                        .toList();
    }

    /** A share by memory in a pool. */
    private record MemoryShare(UUID pool, long memoryMiB, int devices) {}

    /** What a workload would hold of each of its pools, where it asks for a share by memory. */
    private static List<MemoryShare> memoryShares(Row row) {
        Long memoryMiB = row.getLong("gpu_memory_mib");
        return memoryMiB == null
                ? List.of()
                : Arrays.stream(row.getArrayOfUUIDs("pool_ids"))
                        .map(pool -> new MemoryShare(pool, memoryMiB, row.getInteger("gpu_devices")))
                        .toList();
    }

    /** What shares by memory count as while they wait, each worked out once however many ask for it. */
    private Map<MemoryShare, Long> counts(List<Row> rows) {
        Set<MemoryShare> asked = new LinkedHashSet<>();
        rows.forEach(row -> asked.addAll(memoryShares(row)));
        Map<MemoryShare, Long> counts = new HashMap<>();
        if (!asked.isEmpty()) {
            transaction
                    .run(
                            "select pool, mib, devices, waiting_gpu_milli(pool, mib, devices) as gpu_milli"
                                    + " from unnest($1::uuid[], $2::bigint[], $3::int[]) as asked(pool, mib, devices)",
                            asked.stream().map(MemoryShare::pool).toArray(UUID[]::new),
                            asked.stream().map(MemoryShare::memoryMiB).toArray(Long[]::new),
                            asked.stream().map(MemoryShare::devices).toArray(Integer[]::new))
                    .forEach(row -> counts.put(
                            new MemoryShare(row.getUUID("pool"), row.getLong("mib"), row.getInteger("devices")),
                            row.getLong("gpu_milli")));
        }
        return counts;
    }

    static UUID[] array(Collection<UUID> ids) {
        return ids.toArray(UUID[]::new);
    }

    static long millis(OffsetDateTime time) {
        return time.toInstant().toEpochMilli();
    }

    private static OptionalLong optionalMillis(@Nullable OffsetDateTime time) {
        return time == null ? OptionalLong.empty() : OptionalLong.of(millis(time));
    }

    private static OptionalLong optional(@Nullable Integer value) {
        return value == null ? OptionalLong.empty() : OptionalLong.of(value);
    }

    private static OptionalLong shorter(@Nullable Long one, @Nullable Long other) {
        if (one == null) {
            return other == null ? OptionalLong.empty() : OptionalLong.of(other);
        }
        return OptionalLong.of(other == null ? one : Math.min(one, other));
    }
}
