-- Submissions of one tenant in one call, which is one transaction and one round trip. It runs with the rights of its
-- caller, so row-level security applies to each row that it reads and writes.
create function submit_workloads(of_tenant text, members_json text, rows_json text)
returns table (member int, outcome text)
language plpgsql volatile
as $$
#variable_conflict use_column
begin
    perform set_config('app.tenant', of_tenant, true);
    return query
    with member as materialized (
        select * from json_to_recordset(cast(members_json as json)) as x(m int, workloads int, username text, subject text,
            key text, fingerprint text, headers jsonb, body text)),
    asked as (
        select * from json_to_recordset(cast(rows_json as json)) as x(m int, n int, id uuid, name text, type text, queue uuid,
            version bigint, rules_version bigint, policy_version bigint, profile_version bigint, priority int,
            preemptible boolean, dedicated_only boolean, command jsonb, environment jsonb, abort_callback jsonb,
            max_runtime_ms bigint, gpus int, min_gpus int, labels jsonb, wish text, state text)),
    fit as materialized (
        select a.*, q.policy_id, q.profile_id
          from asked a
          join queue q on q.tenant_id = of_tenant and q.id = a.queue and q.version = a.version
              and q.rules_version = a.rules_version and q.retired_at is null
          join policy p on p.tenant_id = q.tenant_id and p.id = q.policy_id and p.version = a.policy_version
          join profile f on f.tenant_id = q.tenant_id and f.id = q.profile_id and f.version = a.profile_version
          join tenant t on t.id = q.tenant_id and t.state = 'active'
           for share of q),
    whole as materialized (
        select k.*
          from member k
          join (select f.m, count(*) as fits from fit f group by f.m) c on c.m = k.m and c.fits = k.workloads),
    keyed as (
        -- In the order of the keys, so that two calls with the same keys do not wait for each other.
        insert into idempotency (tenant_id, caller, key, fingerprint, status, headers, body)
        select of_tenant, w.subject, w.key, w.fingerprint, 201, w.headers, w.body
          from whole w where w.key is not null
         order by w.subject, w.key
            on conflict do nothing
        returning caller, key),
    entering as materialized (
        select w.m, w.username, w.subject
          from whole w
          left join keyed d on d.caller = w.subject and d.key = w.key
         where w.key is null or d.key is not null),
    submitted as (
        insert into workload (tenant_id, id, name, type, queue_id, policy_id, profile_id, submitted_by, submitter, priority,
            preemptible, dedicated_only, command, environment, abort_callback, max_runtime_ms, gpus, min_gpus, labels, wish,
            state)
        select of_tenant, f.id, f.name, f.type, f.queue, f.policy_id, f.profile_id, e.username, e.subject, f.priority,
               f.preemptible, f.dedicated_only, f.command, f.environment, f.abort_callback, f.max_runtime_ms, f.gpus,
               f.min_gpus, f.labels, f.wish, f.state
          from fit f
          join entering e on e.m = f.m
         order by f.m, f.n
        returning id),
    announced as (
        insert into inbox (tenant_id, kind, ref) select of_tenant, 'workload', cast(id as text) from submitted)
    select k.m, case when w.m is null then 'outdated' when e.m is null then 'repeated' else 'entered' end
      from member k
      left join whole w on w.m = k.m
      left join entering e on e.m = k.m;
end
$$;
comment on function submit_workloads is
    'stores each member whole or not at all: entered; outdated where a queue, its terms or its tenant changed; repeated where its key has an answer';
revoke execute on function submit_workloads from public;
grant execute on function submit_workloads to ${requestRole};
