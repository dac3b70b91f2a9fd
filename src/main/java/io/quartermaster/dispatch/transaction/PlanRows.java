package io.quartermaster.dispatch.transaction;

import io.quartermaster.dispatch.lifecycle.AttemptStopReason;
import io.quartermaster.dispatch.lifecycle.RetryBackoff;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.DatabaseFailures;
import io.quartermaster.platform.db.SystemTransaction;
import io.quartermaster.workloads.AttemptOutcome;
import io.quartermaster.workloads.WorkloadAttemptState;
import io.quartermaster.workloads.WorkloadState;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.OffsetDateTime;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;

/**
 * The rows of one plan. They are collected while the plan is translated and written with one statement per table. The
 * order satisfies every foreign key and index: rows that free devices come before rows that bind them.
 */
public final class PlanRows {

    private final Fence fence;
    private final JsonArray endedAttempts = new JsonArray();
    private final JsonArray attemptProgress = new JsonArray();
    private final JsonArray attemptStops = new JsonArray();
    private final JsonArray attemptDeadlines = new JsonArray();
    private final JsonArray newAttempts = new JsonArray();
    private final JsonArray newDevices = new JsonArray();
    /**
     * The last state that the plan gives each workload. A workload that ends and starts again in one plan is only
     * starting.
     */
    private final Map<UUID, JsonObject> workloadStates = new LinkedHashMap<>();

    private final JsonArray reasons = new JsonArray();
    private final JsonArray nominations = new JsonArray();
    private final JsonArray endedPauses = new JsonArray();
    private final JsonArray withdrawnNominations = new JsonArray();
    private final JsonArray preemptions = new JsonArray();
    private final JsonArray usage = new JsonArray();
    private final JsonArray feed = new JsonArray();
    private final Set<UUID> touchedNodes = new TreeSet<>();
    /** The nodes on which an attempt starts, each with the pool that the plan assumed for it. */
    private final Map<UUID, UUID> poolsOfStarts = new TreeMap<>();

    private final Set<TenantId> fedTenants = new TreeSet<>();

    public PlanRows(Fence fence) {
        this.fence = fence;
    }

    public void addEndedAttempt(
            TenantId tenant, UUID attempt, AttemptOutcome outcome, Optional<Integer> exitCode, String message) {
        endedAttempts.add(new JsonObject()
                .put("tenant_id", tenant.value())
                .put("id", attempt.toString())
                .put("outcome", outcome.word())
                .put("exit_code", exitCode.orElse(null))
                .put("message", message));
    }

    public void addAttemptProgress(TenantId tenant, UUID attempt, WorkloadAttemptState.Wanted state) {
        attemptProgress.add(new JsonObject()
                .put("tenant_id", tenant.value())
                .put("id", attempt.toString())
                .put("state", state.word()));
    }

    public void addAttemptStop(TenantId tenant, UUID attempt, AttemptStopReason reason, long graceMillis) {
        attemptStops.add(new JsonObject()
                .put("tenant_id", tenant.value())
                .put("id", attempt.toString())
                .put("stop_reason", reason.word())
                .put("grace_ms", graceMillis));
    }

    /** Sets the deadline of an attempt that is stopping. */
    public void addAttemptDeadline(TenantId tenant, UUID attempt, long deadlineMillis) {
        attemptDeadlines.add(new JsonObject()
                .put("tenant_id", tenant.value())
                .put("id", attempt.toString())
                .put("deadline_ms", deadlineMillis));
    }

    /**
     * @param number of the workload's attempt
     * @param worker the number of the surplus worker; empty for the workload itself
     * @param resumes the paused attempt whose processes it takes over
     * @param rule the rule by which it holds its devices
     */
    public void addAttempt(
            WorkloadRecord workload,
            UUID attempt,
            int number,
            OptionalInt worker,
            UUID pool,
            long gpuMilli,
            Optional<UUID> resumes,
            String rule,
            boolean fromReservation) {
        newAttempts.add(new JsonObject()
                .put("resumes", resumes.map(UUID::toString).orElse(null))
                .put("worker", worker.isPresent() ? worker.getAsInt() : null)
                .put("tenant_id", workload.tenant().value())
                .put("id", attempt.toString())
                .put("workload_id", workload.id().toString())
                .put("number", number)
                .put("pool_id", pool.toString())
                .put("gpu_milli", gpuMilli)
                .put("rule", rule)
                .put("from_reservation", fromReservation));
    }

    public void addDevice(TenantId tenant, UUID attempt, int worker, JsonObject place) {
        newDevices.add(place.put("tenant_id", tenant.value())
                .put("attempt_id", attempt.toString())
                .put("worker", worker));
    }

    /**
     * Sets a state. Further keys are {@code end_reason}, {@code at_head} and {@code attempts}; the SQL defines whether
     * an absent key keeps or clears its column.
     */
    public void setWorkloadState(WorkloadRecord workload, WorkloadState state, JsonObject more) {
        setWorkloadState(workload, state, more, workload.retryBackoff().withoutDelay());
    }

    public void setWorkloadState(
            WorkloadRecord workload, WorkloadState state, JsonObject more, RetryBackoff retryBackoff) {
        JsonObject row = more.copy()
                .put("tenant_id", workload.tenant().value())
                .put("id", workload.id().toString())
                .put("state", state.word())
                .put("quick_losses", retryBackoff.quickLosses());
        retryBackoff.retryAtMillis().ifPresent(millis -> row.put("retry_ms", millis));
        workloadStates.put(workload.id(), row);
        addFeedEntry(workload.tenant(), workload.id(), more.copy().put("state", state.word()));
    }

    /**
     * Starts the workload under the terms that the plan assumed. If it was moved to another queue in the meantime, or
     * may run for another time, the plan is not written.
     *
     * @param planned the terms by which the engine knows the workload
     */
    public void setWorkloadStarting(WorkloadRecord workload, WorkloadRecord.Binding planned, JsonObject more) {
        setWorkloadState(workload, new WorkloadState.Starting(), more);
        workloadStates.compute(workload.id(), (id, row) -> Objects.requireNonNull(row)
                .put("policy_id", planned.policy().toString())
                .put("queue_id", planned.queue().toString())
                .put("profile_id", planned.profile().toString())
                .put(
                        "max_runtime_ms",
                        planned.maxRuntimeMillis().isPresent()
                                ? planned.maxRuntimeMillis().getAsLong()
                                : null));
    }

    /**
     * Adds paused processes to the new state: the attempt whose processes stay, or stay until they have ended, and
     * their node.
     *
     * @param untilMillis when they are given up; empty if that is stored already
     */
    public void setWorkloadPausing(UUID workload, UUID attempt, UUID node, OptionalLong untilMillis) {
        workloadStates.compute(workload, (id, row) -> {
            JsonObject with = Objects.requireNonNull(row)
                    .put("paused_attempt", attempt.toString())
                    .put("paused_node", node.toString());
            untilMillis.ifPresent(millis -> with.put("paused_until_ms", millis));
            return with;
        });
    }

    /** Removes the paused processes, which have all ended. */
    public void addEndedPause(WorkloadRecord workload) {
        endedPauses.add(new JsonObject()
                .put("tenant_id", workload.tenant().value())
                .put("id", workload.id().toString()));
    }

    /**
     * Sets the reason why a workload waits. If it differs from the stored one, the tenant's live feed gets an entry.
     */
    public void addReason(UUID workload, String code, JsonArray perPool) {
        reasons.add(new JsonObject()
                .put("seq", fence.nextSequence())
                .put("id", workload.toString())
                .put("code", code)
                .put("reason", perPool));
    }

    /** Adds an entry about a workload to the tenant's live feed. */
    public void addFeedEntry(TenantId tenant, UUID workload, JsonObject body) {
        fedTenants.add(tenant);
        feed.add(new JsonObject()
                .put("tenant_id", tenant.value())
                .put("seq", fence.nextSequence())
                .put("ref", workload.toString())
                .put("body", body));
    }

    public void addNomination(TenantId tenant, UUID workload, UUID pool, JsonObject body) {
        nominations.add(new JsonObject()
                .put("tenant_id", tenant.value())
                .put("workload_id", workload.toString())
                .put("pool_id", pool.toString())
                .put("body", body));
    }

    public void withdrawNomination(TenantId tenant, UUID workload) {
        withdrawnNominations.add(
                new JsonObject().put("tenant_id", tenant.value()).put("workload_id", workload.toString()));
    }

    public void addPreemption(JsonObject row) {
        preemptions.add(row);
    }

    public void addUsageEvent(TenantId tenant, String kind, UUID pool, JsonObject more) {
        usage.add(more.put("seq", fence.nextSequence())
                .put("tenant_id", tenant.value())
                .put("kind", kind)
                .put("pool_id", pool.toString()));
    }

    /** Adds a phase to the usage of an allocation that holds GPUs. */
    public void addPhase(TenantId tenant, WorkloadRecord.LiveAttempt attempt, String phase, long sinceMillis) {
        if (attempt.gpuMilli() > 0) {
            addUsageEvent(
                    tenant,
                    "phase",
                    attempt.pool(),
                    new JsonObject()
                            .put("allocation_id", attempt.id().toString())
                            .put("phase", phase)
                            .put("since_ms", sinceMillis));
        }
    }

    public void touchNode(UUID node) {
        touchedNodes.add(node);
    }

    /**
     * Records a start on a node of this pool. If the node was retired or moved in the meantime, the plan is not
     * written.
     */
    public void addStart(UUID node, UUID pool) {
        touchNode(node);
        poolsOfStarts.put(node, pool);
    }

    public Set<UUID> touchedNodes() {
        return touchedNodes;
    }

    public Set<TenantId> fedTenants() {
        return fedTenants;
    }

    /**
     * Writes all rows. Throws {@link StalePlanException} if a row that a start relies on has changed since the plan: a
     * workload was moved to another queue or got another maximum run time, or a node was retired or moved to another
     * pool. Throws {@link LockedRowsException} if another transaction keeps the row of a workload locked.
     */
    public void write(SystemTransaction transaction, String cell) {
        try {
            send(transaction, cell);
            transaction.awaitSent();
        } catch (RuntimeException e) {
            throw DatabaseFailures.isLockTimeout(e) ? new LockedRowsException(writtenWorkloads(), e) : e;
        }
    }

    private Set<UUID> writtenWorkloads() {
        Set<UUID> written = new TreeSet<>(workloadStates.keySet());
        for (JsonArray rows : List.of(reasons, endedPauses)) {
            rows.forEach(row -> written.add(UUID.fromString(((JsonObject) row).getString("id"))));
        }
        return written;
    }

    private void send(SystemTransaction transaction, String cell) {
        OffsetDateTime stamp = fence.stamp();
        set(transaction, endedAttempts, """
                with ended as (
                    update attempt a set state = 'ended', outcome = x.outcome, exit_code = x.exit_code,
                        message = x.message, ended_at = $2::timestamptz
                      from jsonb_to_recordset($1) as x(tenant_id text, id uuid, outcome text, exit_code int,
                          message text)
                     where a.tenant_id = x.tenant_id and a.id = x.id and a.state <> 'ended' returning a.tenant_id, a.id)
                update allocation_device d set freed_at = $2::timestamptz from ended e
                 where d.tenant_id = e.tenant_id and d.attempt_id = e.id and d.freed_at is null
                """, stamp);
        set(transaction, attemptProgress, """
                update attempt a set state = x.state, started_at = case when x.state = 'running'
                    then $2::timestamptz else a.started_at end
                  from jsonb_to_recordset($1) as x(tenant_id text, id uuid, state text)
                 where a.tenant_id = x.tenant_id and a.id = x.id
                """, stamp);
        set(transaction, attemptStops, """
                update attempt a set state = 'stopping', stop_reason = x.stop_reason, stopping_at = $2::timestamptz,
                       deadline_at = $2::timestamptz + x.grace_ms * interval '1 millisecond'
                  from jsonb_to_recordset($1) as x(tenant_id text, id uuid, stop_reason text, grace_ms bigint)
                 where a.tenant_id = x.tenant_id and a.id = x.id
                """, stamp);
        set(transaction, attemptDeadlines, """
                update attempt a set deadline_at = least(a.deadline_at,
                    timestamptz 'epoch' + x.deadline_ms * interval '1 millisecond')
                  from jsonb_to_recordset($1) as x(tenant_id text, id uuid, deadline_ms bigint)
                 where a.tenant_id = x.tenant_id and a.id = x.id and a.state = 'stopping'
                """);
        set(transaction, newAttempts, """
                insert into attempt (tenant_id, id, workload_id, number, worker, state, pool_id, gpu_milli, resumes,
                    rule, from_reservation, bound_at)
                select tenant_id, id, workload_id, number, worker, 'bound', pool_id, gpu_milli, resumes, rule,
                    from_reservation, $2::timestamptz
                  from jsonb_to_recordset($1) as x(tenant_id text, id uuid, workload_id uuid, number int, worker int,
                      pool_id uuid,
                       gpu_milli bigint, resumes uuid, rule text, from_reservation boolean)
                """, stamp);
        set(transaction, newDevices, """
                insert into allocation_device (tenant_id, attempt_id, worker, node_id, device_index, gpu_milli, mig,
                    mig_first)
                select tenant_id, attempt_id, worker, node_id, device_index, gpu_milli, mig, mig_first
                  from jsonb_to_recordset($1) as x(tenant_id text, attempt_id uuid, worker int, node_id uuid,
                      device_index int, gpu_milli bigint,
                       mig text, mig_first int)
                """);
        Optional<SystemTransaction.PendingStatement> states =
                set(transaction, new JsonArray(List.copyOf(workloadStates.values())), """
                update workload w set state = x.state, changed_at = $2::timestamptz, end_reason = x.end_reason,
                       attempts = coalesce(x.attempts, w.attempts), quick_losses = x.quick_losses,
                       retry_at = timestamptz 'epoch' + x.retry_ms * interval '1 millisecond',
                       at_head_since = case when x.at_head then $2::timestamptz when x.state in ('starting',
                           'succeeded', 'failed', 'cancelled') then null else w.at_head_since end,
                       place = case when x.state in ('waiting', 'held', 'paused') then w.place end,
                       paused_attempt = x.paused_attempt, paused_node = x.paused_node,
                       paused_until = case when x.paused_attempt is not null
                                           then coalesce(timestamptz 'epoch' + x.paused_until_ms * interval '1 millisecond', w.paused_until) end,
                       reason_code = case when x.state in ('waiting', 'held', 'paused') then w.reason_code end,
                       reason = case when x.state in ('waiting', 'held', 'paused') then w.reason end,
                       reason_at = case when x.state in ('waiting', 'held', 'paused') then w.reason_at end,
                       started_at = case when x.state = 'running' and w.state not in ('running', 'stopping')
                           then $2::timestamptz
                           else w.started_at end,
                       ended_at = case when x.state in ('succeeded', 'failed', 'cancelled') then $2::timestamptz end,
                       set_aside_at = case when x.state not in ('succeeded', 'failed', 'cancelled')
                           then w.set_aside_at end,
                       set_aside_why = case when x.state not in ('succeeded', 'failed', 'cancelled')
                           then w.set_aside_why end,
                       set_aside_until = case when x.state not in ('succeeded', 'failed', 'cancelled')
                           then w.set_aside_until end
                  from jsonb_to_recordset($1) as x(tenant_id text, id uuid, state text, end_reason text,
                      attempts int, at_head boolean,
                       quick_losses int, retry_ms bigint, paused_attempt uuid, paused_node uuid,
                           paused_until_ms bigint, policy_id uuid, queue_id uuid, profile_id uuid,
                           max_runtime_ms bigint)
                 where w.tenant_id = x.tenant_id and w.id = x.id
                   and (x.policy_id is null or (w.policy_id, w.queue_id, w.profile_id) = (x.policy_id, x.queue_id,
                       x.profile_id) and least(w.max_runtime_ms, (select f.max_runtime_ms from profile f
                           where f.tenant_id = w.tenant_id and f.id = w.profile_id))
                           is not distinct from x.max_runtime_ms)
                """, stamp);
        set(transaction, endedPauses, """
                update workload w set paused_attempt = null, paused_node = null, paused_until = null
                  from jsonb_to_recordset($1) as x(tenant_id text, id uuid) where w.tenant_id = x.tenant_id
                      and w.id = x.id
                """);
        Optional<SystemTransaction.PendingStatement> toldWhy = set(transaction, reasons, """
                with changed as (
                    update workload w set reason_code = x.code, reason = x.reason, reason_at = $2::timestamptz
                      from jsonb_to_recordset($1) as x(id uuid, code text, reason jsonb, seq bigint)
                     where w.id = x.id and w.state in ('waiting', 'held', 'paused') and (w.reason_code,
                         w.reason) is distinct from (x.code, x.reason)
                    returning w.tenant_id, w.id, w.state, x.code, x.reason->0->>'sentence' as sentence, x.seq),
                told as (
                    insert into feed (tenant_id, seq, kind, ref, body, at)
                    select tenant_id, seq, 'workload', id::text, jsonb_build_object('state', state, 'reason', code,
                        'message', sentence), $2::timestamptz from changed)
                select distinct tenant_id from changed
                """, stamp);
        set(transaction, withdrawnNominations, """
                delete from nomination n using jsonb_to_recordset($1) as x(tenant_id text, workload_id uuid)
                 where n.tenant_id = x.tenant_id and n.workload_id = x.workload_id
                """);
        set(transaction, nominations, """
                insert into nomination (tenant_id, workload_id, pool_id, body, nominated_at)
                select tenant_id, workload_id, pool_id, body, $2::timestamptz
                  from jsonb_to_recordset($1) as x(tenant_id text, workload_id uuid, pool_id uuid, body jsonb)
                on conflict (tenant_id, workload_id) do update set pool_id = excluded.pool_id, body = excluded.body,
                    nominated_at = excluded.nominated_at
                """, stamp);
        set(transaction, preemptions, """
                insert into preemption (tenant_id, id, workload_id, attempt_id, cause, for_workload, receipt, at)
                select tenant_id, id, workload_id, attempt_id, cause, for_workload, receipt, $2::timestamptz
                  from jsonb_to_recordset($1)
                    as x(tenant_id text, id uuid, workload_id uuid, attempt_id uuid, cause text, for_workload uuid,
                        receipt jsonb)
                """, stamp);
        // An allocation keeps the values that the tenant's label keys have now, whatever happens to the workload's
        // labels.
        set(transaction, usage, """
                insert into usage_event (seq, cell_id, tenant_id, at_ms, kind, pool_id, pool, allocation_id,
                    policy_id, gpu_milli, phase, since_ms, marks, format)
                select x.seq, $2, x.tenant_id, $3, x.kind, x.pool_id, (select name from pool where id = x.pool_id),
                    x.allocation_id, x.policy_id, x.gpu_milli, x.phase, x.since_ms,
                    case when l.labels is null then x.marks
                         else x.marks || jsonb_build_object('labels', l.labels) end,
                    case when l.labels is null then 1 else 2 end
                  from jsonb_to_recordset($1) as x(seq bigint, tenant_id text, kind text, pool_id uuid,
                      allocation_id uuid, policy_id uuid,
                       gpu_milli bigint, phase text, since_ms bigint, marks jsonb)
                  left join lateral (
                      select jsonb_object_agg(k.key, w.labels -> k.key) as labels
                        from usage_settings s cross join unnest(s.label_keys) as k(key)
                        join workload w on w.tenant_id = s.tenant_id and w.id = cast(x.marks ->> 'workload' as uuid)
                       where x.kind = 'allocated' and s.tenant_id = x.tenant_id) l on true
                """, cell, fence.stampMillis());
        set(transaction, feed, """
                insert into feed (tenant_id, seq, kind, ref, body, at)
                select tenant_id, seq, 'workload', ref, body, $2::timestamptz
                  from jsonb_to_recordset($1) as x(tenant_id text, seq bigint, ref text, body jsonb)
                """, stamp);
        if (!touchedNodes.isEmpty()) {
            transaction.send(
                    "update node set revision = $2 where id = any($1)",
                    touchedNodes.toArray(UUID[]::new),
                    fence.nextSequence());
        }
        Optional<SystemTransaction.PendingStatement> nodes = startNodes(transaction);
        fence.saveSequence(transaction, cell);
        toldWhy.ifPresent(told -> told.rows().forEach(row -> fedTenants.add(new TenantId(row.getString("tenant_id")))));
        if (states.isPresent() && states.get().rowCount() < workloadStates.size()) {
            throw new StalePlanException(
                    "a workload that was to start was moved to another queue, or got another maximum run "
                            + "time, in the meantime");
        }
        if (nodes.isPresent() && nodes.get().rowCount() < poolsOfStarts.size()) {
            throw new StalePlanException("a node for a start was retired or moved to another pool in the meantime");
        }
    }

    /**
     * The nodes of starts that still belong to their pools. They stay so until the plan is committed: the transaction
     * has held their rows since it gave them a revision.
     */
    private Optional<SystemTransaction.PendingStatement> startNodes(SystemTransaction transaction) {
        return poolsOfStarts.isEmpty()
                ? Optional.empty()
                : Optional.of(transaction.send(
                        "select n.id from node n join unnest($1::uuid[], $2::uuid[]) as x(id, pool_id) on n.id = x.id"
                                + " where n.pool_id = x.pool_id and n.retired_at is null",
                        poolsOfStarts.keySet().toArray(UUID[]::new),
                        poolsOfStarts.values().toArray(UUID[]::new)));
    }

    /** Empty if there is nothing to write. */
    private static Optional<SystemTransaction.PendingStatement> set(
            SystemTransaction transaction, JsonArray rows, String sql, Object... more) {
        if (rows.isEmpty()) {
            return Optional.empty();
        }
        Object[] parameters = new Object[more.length + 1];
        parameters[0] = rows;
        System.arraycopy(more, 0, parameters, 1, more.length);
        return Optional.of(transaction.send(sql, parameters));
    }
}
