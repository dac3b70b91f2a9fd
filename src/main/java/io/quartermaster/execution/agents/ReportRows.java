package io.quartermaster.execution.agents;

import io.quartermaster.agent.protocol.AttemptReport;
import io.quartermaster.agent.protocol.AttemptState;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Locale;

/** Part of the statements that store reports of attempts, and the form in which these take the reports. */
final class ReportRows {

    /**
     * Stores reports of attempts that are bound to the node which reports them. It follows a relation {@code heard} of
     * {@code node_id}, {@code node} (as in the JSON) and {@code before}, the node's previous contact; the format takes
     * the parameter with the JSON. The relation {@code announced} has a row for each new row of the inbox, which gets
     * only attempts whose state changed; the log grows without the leader.
     *
     * <p>The first reported end of an attempt stays, so a repeated report changes nothing. The end is never before the
     * attempt was bound, nor before the previous contact: until that contact the node had reported no end, and the hour
     * before it may be closed. A report without news writes nothing.
     */
    static final String STORED = """
            said as (
                select x.*, h.node_id, a.tenant_id, a.workload_id, r.state as old_state,
                       case when x.ended_ago_ms is not null
                            then greatest(a.bound_at, r.reported_at, h.before,
                                clock_timestamp() - x.ended_ago_ms * interval '1 millisecond') end as work_ended_at
                  from jsonb_to_recordset(%s) as x(node text, id uuid, state text, outcome text, exit_code int,
                      message text, started_ms bigint,
                       ended_ms bigint, ended_ago_ms bigint, log_tail text, log_bytes bigint)
                  join heard h on h.node = x.node
                  join attempt a on a.id = x.id
                  left join report r on r.tenant_id = a.tenant_id and r.attempt_id = a.id and r.node_id = h.node_id
                 where exists (select 1 from allocation_device d where d.attempt_id = a.id
                     and d.tenant_id = a.tenant_id and d.node_id = h.node_id)
                   and r.state is distinct from 'ended'
                   and (r.state is distinct from x.state or x.log_bytes > r.log_bytes
                       or x.started_ms is not null and r.started_at is distinct from
                           timestamptz 'epoch' + x.started_ms * interval '1 millisecond')),
            stored as (
                insert into report as r (tenant_id, attempt_id, node_id, state, outcome, exit_code, message,
                    started_at, ended_at, log_tail,
                                         log_bytes, reported_at, work_ended_at)
                select tenant_id, id, node_id, state, outcome, exit_code, message,
                    timestamptz 'epoch' + started_ms * interval '1 millisecond',
                       timestamptz 'epoch' + ended_ms * interval '1 millisecond', log_tail, coalesce(log_bytes, 0),
                           clock_timestamp(), work_ended_at
                  from said
                on conflict (tenant_id, attempt_id, node_id) do update set state = excluded.state,
                    outcome = excluded.outcome,
                       exit_code = excluded.exit_code, message = excluded.message,
                           started_at = coalesce(excluded.started_at, r.started_at),
                       ended_at = excluded.ended_at, log_tail = coalesce(excluded.log_tail, r.log_tail),
                       log_bytes = greatest(excluded.log_bytes, r.log_bytes), reported_at = excluded.reported_at,
                       work_ended_at = coalesce(r.work_ended_at, excluded.work_ended_at)
                returning 1),
            announced as (
                insert into inbox (tenant_id, kind, ref)
                select tenant_id, 'report', workload_id::text from said where old_state is distinct from state
                returning 1)
            """;

    private ReportRows() {}

    /** Adds the reports of a node to the rows. */
    static JsonArray json(JsonArray rows, String node, List<AttemptReport> attempts) {
        attempts.forEach(attempt -> rows.add(report(attempt).put("node", node)));
        return rows;
    }

    static String word(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static JsonObject report(AttemptReport attempt) {
        JsonObject json = new JsonObject()
                .put("id", attempt.attemptId().toString())
                .put("ended_ago_ms", attempt.endedAgoMillis());
        switch (attempt.state()) {
            case AttemptState.Starting() -> json.put("state", "starting");
            case AttemptState.Running running ->
                json.put("state", "running").put("started_ms", running.startedAtEpochMillis());
            case AttemptState.Stopping stopping ->
                json.put("state", "stopping").put("started_ms", stopping.startedAtEpochMillis());
            case AttemptState.Paused paused ->
                json.put("state", "paused").put("started_ms", paused.startedAtEpochMillis());
            case AttemptState.Ended ended ->
                json.put("state", "ended")
                        .put("outcome", word(ended.outcome()))
                        .put("exit_code", ended.exitCode())
                        .put("started_ms", ended.startedAtEpochMillis())
                        .put("ended_ms", ended.endedAtEpochMillis())
                        .put("message", printable(ended.detail()));
        }
        AttemptReport.LogTail log = attempt.log();
        if (log != null) {
            json.put("log_tail", printable(log.text())).put("log_bytes", log.totalBytes());
        }
        return json;
    }

    /** Removes NUL characters, which PostgreSQL's text cannot hold, from the output of a process. */
    private static String printable(String text) {
        return text.replace('\0', '\uFFFD');
    }
}
