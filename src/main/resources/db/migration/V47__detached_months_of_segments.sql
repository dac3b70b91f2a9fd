-- A month that exists and is no partition, because it was detached or restored, is attached again: otherwise its usage is
-- missing in every answer, and no hour of that month can close.
create or replace function make_segment_partitions() returns int language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    month timestamp;
    last_month timestamp := date_trunc('month', clock_timestamp() at time zone 'UTC') + interval '2 months';
    name text;
    made int := 0;
begin
    select begin_at at time zone 'UTC' into strict month from public.segment_months;
    while month <= last_month loop
        name := 'segment_' || to_char(month, 'YYYY_MM');
        if not exists (select 1 from pg_inherits where inhrelid = to_regclass('public.' || name)
                       and inhparent = 'public.segment'::regclass) then
            perform pg_advisory_xact_lock(hashtextextended('quartermaster partitions of segments', 0));
            -- Looked up again under the lock, each in a statement of its own.
            if to_regclass('public.' || name) is null then
                execute format('create table public.%I (like public.segment including defaults including constraints)', name);
                execute format('alter table public.%I add primary key (tenant_id, seq), add unique (tenant_id, id)', name);
                execute format('create index on public.%I (tenant_id, hour_ms)', name);
            end if;
            if not exists (select 1 from pg_inherits where inhrelid = to_regclass('public.' || name)
                           and inhparent = 'public.segment'::regclass) then
                if not exists (select 1 from pg_class t, pg_class s where t.oid = to_regclass('public.' || name)
                               and s.oid = 'public.segment'::regclass and t.relowner = s.relowner and t.relkind = 'r') then
                    raise exception 'table % is not a partition of segment, and is not a table of its owner', name;
                end if;
                execute format('alter table public.%I enable row level security, force row level security', name);
                execute format('revoke all on public.%I from public, ${requestRole}, ${systemRole}', name);
                execute format('alter table public.segment attach partition public.%I for values from (%s) to (%s)', name,
                    extract(epoch from month at time zone 'UTC')::bigint * 1000 + 1,
                    extract(epoch from (month + interval '1 month') at time zone 'UTC')::bigint * 1000 + 1);
                made := made + 1;
            end if;
        end if;
        month := month + interval '1 month';
    end loop;
    return made;
end $$;
