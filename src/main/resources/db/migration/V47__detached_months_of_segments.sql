-- A month that exists and is no partition, because it was detached or restored, is attached again: otherwise its usage is
-- missing in every answer, and no hour of that month can close. A month that fails must not keep the others from being made:
-- each is a subtransaction of its own, and those that are needed next are made by a call of their own.

-- Whether a table of this name is a partition of segment. One whose detaching was cut off is invisible, and is none.
create function is_segment_month(name text) returns boolean language sql stable set search_path = pg_catalog, pg_temp as $$
    select exists (select 1 from pg_inherits where inhrelid = to_regclass('public.' || name)
                   and inhparent = 'public.segment'::regclass and not inhdetachpending)
$$;

-- Makes the partition of a month, or attaches the table with its name; returns whether it did.
create function attach_segment_month(month timestamp) returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    name text := 'segment_' || to_char(month, 'YYYY_MM');
    addition text;
    key record;
begin
    if public.is_segment_month(name) then
        return false;
    end if;
    perform pg_advisory_xact_lock(hashtextextended('quartermaster partitions of segments', 0));
    -- Looked up again under the lock, each in a statement of its own.
    if public.is_segment_month(name) then
        return false;
    end if;
    if to_regclass('public.' || name) is null then
        execute format('create table public.%I (like public.segment including defaults including constraints)', name);
        execute format('alter table public.%I add primary key (tenant_id, seq)', name);
    end if;
    if not exists (select 1 from pg_class t, pg_class s where t.oid = to_regclass('public.' || name)
                   and s.oid = 'public.segment'::regclass and t.relowner = s.relowner and t.relkind = 'r') then
        raise exception 'table % is not a partition of segment, and is not a table of its owner', name;
    end if;
    if exists (select 1 from pg_inherits where inhrelid = to_regclass('public.' || name) and inhdetachpending) then
        execute format('alter table public.segment detach partition public.%I finalize', name);
    end if;
    -- A month that was detached before an upgrade lacks the columns that the upgrade added.
    for addition in
        select format('add column %I %s', s.attname, format_type(s.atttypid, s.atttypmod)) from pg_attribute s
         where s.attrelid = 'public.segment'::regclass and s.attnum > 0 and not s.attisdropped
           and not exists (select 1 from pg_attribute m where m.attrelid = to_regclass('public.' || name)
                           and m.attname = s.attname and not m.attisdropped)
         order by s.attnum
    loop
        execute format('alter table public.%I %s', name, addition);
    end loop;
    -- A month that was restored by hand may lack the keys.
    for key in
        select * from (values (array['tenant_id', 'seq'], true), (array['tenant_id', 'id'], true),
                              (array['tenant_id', 'hour_ms'], false)) k (fields, uniquely)
    loop
        if not exists (
            select 1 from pg_index i where i.indrelid = to_regclass('public.' || name) and i.indisvalid and i.indpred is null
               and (i.indisunique or not key.uniquely)
               and (select array_agg(a.attname::text order by c.place) from unnest(i.indkey::smallint[]) with ordinality c (field, place)
                      join pg_attribute a on a.attrelid = i.indrelid and a.attnum = c.field) = key.fields)
        then
            execute format('create %s index on public.%I (%s)', case when key.uniquely then 'unique' else '' end, name,
                array_to_string(key.fields, ', '));
        end if;
    end loop;
    execute format('alter table public.%I enable row level security, force row level security', name);
    execute format('revoke all on public.%I from public, ${requestRole}, ${systemRole}', name);
    execute format('alter table public.segment attach partition public.%I for values from (%s) to (%s)', name,
        extract(epoch from month at time zone 'UTC')::bigint * 1000 + 1,
        extract(epoch from (month + interval '1 month') at time zone 'UTC')::bigint * 1000 + 1);
    return true;
end $$;

-- Makes the partitions of this month and the next two that have no table yet, which takes no time. A failure of one is a
-- warning in PostgreSQL's log. A lock that cannot be had is a failure, as the wait for it would hold up others.
create or replace function make_segment_partitions() returns int language plpgsql security definer
    set search_path = pg_catalog, pg_temp set lock_timeout = '3s' as $$
declare
    this_month timestamp := date_trunc('month', clock_timestamp() at time zone 'UTC');
    first_month timestamp;
    month timestamp;
    made int := 0;
begin
    select begin_at at time zone 'UTC' into strict first_month from public.segment_months;
    for month in select generate_series(greatest(first_month, this_month), this_month + interval '2 months', interval '1 month') loop
        if to_regclass('public.segment_' || to_char(month, 'YYYY_MM')) is null then
            begin
                made := made + public.attach_segment_month(month)::int;
            exception when others then
                raise warning 'the partition of % cannot be made: %', to_char(month, 'YYYY-MM'), sqlerrm;
            end;
        end if;
    end loop;
    return made;
end $$;

-- Attaches the first month that is missing and can be attached, and returns 1; returns 0 if there is none. One month a call:
-- PostgreSQL reads all rows of a table that it attaches, which can take minutes, and a time limit that is over would undo
-- all months of a call.
create function attach_segment_months() returns int language plpgsql security definer
    set search_path = pg_catalog, pg_temp set lock_timeout = '3s' as $$
declare
    last_month timestamp := date_trunc('month', clock_timestamp() at time zone 'UTC') + interval '2 months';
    first_month timestamp;
    month timestamp;
begin
    select begin_at at time zone 'UTC' into strict first_month from public.segment_months;
    for month in select generate_series(first_month, last_month, interval '1 month') loop
        begin
            if public.attach_segment_month(month) then
                return 1;
            end if;
        exception when others then
            raise warning 'the partition of % cannot be attached: %', to_char(month, 'YYYY-MM'), sqlerrm;
        end;
    end loop;
    return 0;
end $$;

-- The names of the partitions that should be there and are not.
create function missing_segment_months() returns setof text language sql stable security definer
    set search_path = pg_catalog, pg_temp as $$
    select name
      from public.segment_months,
           generate_series(begin_at at time zone 'UTC', date_trunc('month', clock_timestamp() at time zone 'UTC') + interval '2 months',
               interval '1 month') month,
           lateral (select 'segment_' || to_char(month, 'YYYY_MM') as name) n
     where not public.is_segment_month(name)
     order by name
$$;

revoke all on function is_segment_month(text), attach_segment_month(timestamp), attach_segment_months(), missing_segment_months()
    from public;
grant execute on function attach_segment_months(), missing_segment_months() to ${systemRole};
