package io.quartermaster.dispatch.read;

import io.quartermaster.dispatch.lifecycle.AttemptStopReason;
import io.quartermaster.dispatch.lifecycle.LifecycleRules;
import io.quartermaster.dispatch.lifecycle.RetryBackoff;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.Device;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.LiveAttempt;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.Report;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.Surplus;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.SurplusWorker;
import io.quartermaster.engine.model.Allocation.MigInstance;
import io.quartermaster.platform.db.SystemTransaction;
import io.quartermaster.workloads.AttemptOutcome;
import io.quartermaster.workloads.WorkloadAttemptState;
import io.vertx.mutiny.sqlclient.Row;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** The live attempts of some workloads, with their surplus workers, their devices and their reports. */
final class LiveAttempts {
    private final Map<UUID, List<Device>> devices;
    private final Map<UUID, List<Report>> reports;
    private final Map<UUID, Surplus> surplus = new HashMap<>();

    private LiveAttempts(Map<UUID, List<Device>> devices, Map<UUID, List<Report>> reports) {
        this.devices = devices;
        this.reports = reports;
    }

    /** @param workloads rows as {@link CellReader} reads them */
    static LiveAttempts read(SystemTransaction transaction, List<Row> workloads) {
        List<UUID> attempts = new ArrayList<>();
        List<UUID> elastic = new ArrayList<>();
        for (Row row : workloads) {
            UUID attempt = row.getUUID("attempt_id");
            if (attempt != null) {
                attempts.add(attempt);
                if (row.getInteger("min_workers") < row.getInteger("workers")) {
                    elastic.add(attempt);
                }
            }
        }
        List<Row> surplus = surplus(transaction, elastic);
        surplus.stream()
                .filter(row -> !row.getString("state").equals("ended"))
                .forEach(row -> attempts.add(row.getUUID("id")));
        LiveAttempts live = new LiveAttempts(devices(transaction, attempts), reports(transaction, attempts));
        live.addSurplus(surplus);
        return live;
    }

    /** The attempts of surplus workers, over or not, that belong to these attempts. */
    private static List<Row> surplus(SystemTransaction transaction, List<UUID> cores) {
        List<Row> rows = new ArrayList<>();
        if (!cores.isEmpty()) {
            transaction.run("""
                    select c.id as core_id, s.id, s.number, s.worker, s.state, s.outcome, s.pool_id, s.gpu_milli,
                        s.bound_at, s.from_reservation, s.started_at,
                           s.stop_reason, s.deadline_at, s.ended_at
                      from attempt c join attempt s on s.tenant_id = c.tenant_id
                          and s.workload_id = c.workload_id and s.number = c.number
                     where c.id = any($1) and s.worker is not null order by c.id, s.worker, s.id
                    """, (Object) CellReader.array(cores)).forEach(rows::add);
        }
        return rows;
    }

    /** The live attempt of a workload's row, if it has one. */
    Optional<LiveAttempt> of(Row row) {
        UUID id = row.getUUID("attempt_id");
        return id == null
                ? Optional.empty()
                : Optional.of(attempt(
                        row,
                        id,
                        row.getString("attempt_state"),
                        row.getLong("attempt_gpu_milli"),
                        surplus.getOrDefault(id, Surplus.NONE)));
    }

    private void addSurplus(List<Row> rows) {
        Map<UUID, Integer> quickLosses = new HashMap<>();
        for (Row row : rows) {
            UUID core = row.getUUID("core_id");
            int losses = quickLosses.merge(core, isQuickLoss(row) ? 1 : 0, Integer::sum);
            Surplus before = surplus.getOrDefault(core, Surplus.NONE);
            surplus.put(core, with(before, row, losses));
        }
    }

    private static boolean isQuickLoss(Row row) {
        return "lost".equals(row.getString("outcome"))
                && RetryBackoff.isQuick(
                        CellReader.millis(row.getOffsetDateTime("bound_at")),
                        CellReader.millis(row.getOffsetDateTime("ended_at")));
    }

    /** @param quickLosses the quick losses of the attempt's surplus workers, including this one */
    private Surplus with(Surplus before, Row row, int quickLosses) {
        if (row.getString("state").equals("ended")) {
            AttemptOutcome outcome = AttemptOutcome.of(row.getString("outcome"));
            boolean again = !LifecycleRules.isFinal(outcome)
                    && !(isQuickLoss(row) && quickLosses >= RetryBackoff.MAX_SURPLUS_LOSSES);
            return before.having(row.getInteger("worker"), !again);
        }
        return before.plus(new SurplusWorker(
                row.getInteger("worker"),
                attempt(row, row.getUUID("id"), row.getString("state"), row.getLong("gpu_milli"), Surplus.NONE)));
    }

    private LiveAttempt attempt(Row row, UUID id, String state, long gpuMilli, Surplus workers) {
        return new LiveAttempt(
                id,
                row.getInteger("number"),
                live(state),
                row.getUUID("pool_id"),
                gpuMilli,
                CellReader.millis(row.getOffsetDateTime("bound_at")),
                row.getBoolean("from_reservation"),
                CellReader.optionalMillis(row.getOffsetDateTime("started_at")),
                Optional.ofNullable(row.getString("stop_reason")).map(AttemptStopReason::of),
                CellReader.optionalMillis(row.getOffsetDateTime("deadline_at")),
                List.copyOf(devices.getOrDefault(id, List.of())),
                List.copyOf(reports.getOrDefault(id, List.of())),
                workers);
    }

    private static Map<UUID, List<Device>> devices(SystemTransaction transaction, List<UUID> attempts) {
        Map<UUID, List<Device>> byAttempt = new HashMap<>();
        if (attempts.isEmpty()) {
            return byAttempt;
        }
        for (Row row : transaction.run("""
                select attempt_id, worker, node_id, device_index, gpu_milli, mig, mig_first from allocation_device
                 where attempt_id = any($1) order by attempt_id, worker, device_index
                """, (Object) CellReader.array(attempts))) {
            byAttempt
                    .computeIfAbsent(row.getUUID("attempt_id"), id -> new ArrayList<>())
                    .add(new Device(
                            row.getInteger("worker"),
                            Optional.ofNullable(row.getUUID("node_id")),
                            CellReader.optional(row.getInteger("device_index")),
                            row.getLong("gpu_milli"),
                            instance(row)));
        }
        return byAttempt;
    }

    private static Map<UUID, List<Report>> reports(SystemTransaction transaction, List<UUID> attempts) {
        Map<UUID, List<Report>> byAttempt = new HashMap<>();
        if (attempts.isEmpty()) {
            return byAttempt;
        }
        for (Row row : transaction.run(
                "select attempt_id, node_id, state, outcome, exit_code, message, work_ended_at, silent_since from "
                        + "report where attempt_id = any($1) order by attempt_id, node_id",
                (Object) CellReader.array(attempts))) {
            byAttempt
                    .computeIfAbsent(row.getUUID("attempt_id"), id -> new ArrayList<>())
                    .add(new Report(
                            row.getUUID("node_id"),
                            reported(row),
                            Optional.ofNullable(row.getInteger("exit_code")),
                            row.getString("message") == null ? "" : row.getString("message"),
                            CellReader.optionalMillis(row.getOffsetDateTime("work_ended_at")),
                            CellReader.optionalMillis(row.getOffsetDateTime("silent_since"))));
        }
        return byAttempt;
    }

    private static Optional<MigInstance> instance(Row row) {
        return Optional.ofNullable(row.getString("mig"))
                .map(profile -> new MigInstance(profile, row.getInteger("mig_first")));
    }

    /** A report of an end without an outcome counts as lost: the executor did not see the end. */
    private static WorkloadAttemptState reported(Row row) {
        String state = row.getString("state");
        String outcome = row.getString("outcome");
        return switch (state) {
            case "ended" ->
                new WorkloadAttemptState.Ended(outcome == null ? AttemptOutcome.LOST : AttemptOutcome.of(outcome));
            case "paused" -> new WorkloadAttemptState.Ended(AttemptOutcome.PAUSED);
            default -> WorkloadAttemptState.of(state, Optional.empty());
        };
    }

    private static WorkloadAttemptState.Live live(String state) {
        if (WorkloadAttemptState.of(state, Optional.empty()) instanceof WorkloadAttemptState.Live live) {
            return live;
        }
        throw new IllegalStateException("an attempt that is over was read as a live attempt");
    }
}
