-- Segments and sums belong to closed hours. A foreign key checks that row by row, which took more than half of the time in
-- which they are stored; these triggers check the rows of a statement together.

-- A long reader must not hold up all that would wait behind this lock: the migration fails, and can be repeated.
set local lock_timeout = '3s';
-- In the order in which hours are closed.
lock table closed_hour, segment, usage_hour in access exclusive mode;

create function require_closed_hours() returns trigger language plpgsql set search_path = pg_catalog, public, pg_temp as $$
declare missing record;
begin
    select i.tenant_id, i.hour_ms into missing
      from (select distinct tenant_id, hour_ms from inserted) i
     where not exists (select 1 from closed_hour h where h.tenant_id = i.tenant_id and h.hour_ms = i.hour_ms)
     limit 1;
    if found then
        raise exception 'hour % of tenant % is not closed, so % takes no rows of it', missing.hour_ms, missing.tenant_id, tg_table_name
            using errcode = 'foreign_key_violation';
    end if;
    return null;
end $$;

create function keep_closed_hours() returns trigger language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
    if exists (select 1 from removed r join segment s on s.tenant_id = r.tenant_id and s.hour_ms = r.hour_ms
                where not exists (select 1 from closed_hour h where h.tenant_id = r.tenant_id and h.hour_ms = r.hour_ms))
        or exists (select 1 from removed r join usage_hour u on u.tenant_id = r.tenant_id and u.hour_ms = r.hour_ms
                where not exists (select 1 from closed_hour h where h.tenant_id = r.tenant_id and h.hour_ms = r.hour_ms)) then
        raise exception 'a closed hour with segments or sums cannot be removed' using errcode = 'foreign_key_violation';
    end if;
    return null;
end $$;

alter table segment drop constraint segment_tenant_id_hour_ms_fkey;
alter table usage_hour drop constraint usage_hour_tenant_id_hour_ms_fkey;
create trigger segment_hours after insert on segment
    referencing new table as inserted for each statement execute function require_closed_hours();
create trigger usage_hour_hours after insert on usage_hour
    referencing new table as inserted for each statement execute function require_closed_hours();
create trigger closed_hour_removed after delete on closed_hour
    referencing old table as removed for each statement execute function keep_closed_hours();
