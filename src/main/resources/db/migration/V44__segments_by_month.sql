-- Segments are kept by month. The parent has the rights and the row security; a partition has neither, so nobody reads or
-- writes one by its name. A number and an id are unique within a partition: an id contains the begin of its segment, and so
-- is in the partition of that month, and numbers are of the chain, which an audit follows through all of them.

-- A long reader must not hold up all that would wait behind this lock: the migration fails, and can be repeated.
set local lock_timeout = '3s';

alter table segment rename to segment_first;
drop trigger segment_hours on segment_first;
drop policy segment_tenant on segment_first;
drop policy segment_system on segment_first;
revoke all on segment_first from ${requestRole}, ${systemRole};
comment on table segment_first is 'the segments of the time before there were partitions, and of the first months after';

create table segment (like segment_first including defaults including constraints) partition by range (hour_ms);
alter table segment drop constraint segment_first_hours;
comment on table segment is 'closed usage: append-only, hash-chained per tenant by seq; a partition per month';
comment on column segment.hour_ms is 'end of its hour, as in closed_hour';
alter table segment enable row level security;
alter table segment force row level security;
create policy segment_tenant on segment for select to ${requestRole} using (tenant_id = current_setting('app.tenant', true));
create policy segment_system on segment to ${systemRole} using (true) with check (true);
grant select on segment to ${requestRole};
grant select, insert on segment to ${systemRole};
create trigger segment_hours after insert on segment
    referencing new table as inserted for each statement execute function require_closed_hours();

-- Where the partitions of months begin.
create table segment_months (
    one      boolean primary key default true check (one),
    begin_at timestamptz not null
);
comment on table segment_months is 'the first month with a partition of its own; one row';

do $$
declare bound bigint;
begin
    select substring(pg_get_constraintdef(oid) from '\d+')::bigint into strict bound
      from pg_constraint where conname = 'segment_first_hours' and conrelid = 'segment_first'::regclass;
    execute format('alter table segment attach partition segment_first for values from (minvalue) to (%s)', bound);
    insert into segment_months (begin_at) values (to_timestamp((bound - 1) / 1000));
end $$;
-- The bounds of the partition say the same.
alter table segment_first drop constraint segment_first_hours;
revoke all on segment_months from ${requestRole}, ${systemRole};

-- The service calls this, and cannot make a partition of any other form. It takes no lock that a reader or a writer waits for.
create function make_segment_partitions() returns int language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    month timestamp;
    last_month timestamp := date_trunc('month', clock_timestamp() at time zone 'UTC') + interval '2 months';
    name text;
    made int := 0;
begin
    select begin_at at time zone 'UTC' into strict month from public.segment_months;
    while month <= last_month loop
        name := 'segment_' || to_char(month, 'YYYY_MM');
        if to_regclass('public.' || name) is null then
            perform pg_advisory_xact_lock(hashtextextended('quartermaster partitions of segments', 0));
            if to_regclass('public.' || name) is null then
                execute format('create table public.%I (like public.segment including defaults including constraints)', name);
                execute format('alter table public.%I add primary key (tenant_id, seq), add unique (tenant_id, id)', name);
                execute format('create index on public.%I (tenant_id, hour_ms)', name);
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
revoke all on function make_segment_partitions() from public;
grant execute on function make_segment_partitions() to ${systemRole};
select make_segment_partitions();
