-- Usage by labels. A tenant declares label keys; an allocation keeps the values that they have when it begins. They are in
-- its usage event (format 2), in its segments (format 2), and in sums of hours, one family of sums for each key.

-- A long reader must not hold up all that would wait behind this lock: the migration fails, and can be repeated.
set local lock_timeout = '3s';

alter table segment add column labels jsonb;
comment on column segment.labels is 'by declared key, null where the workload has no such label; absent where no key was declared (format 1)';

create table usage_settings (
    tenant_id          text primary key references tenant,
    label_keys         text[] not null check (cardinality(label_keys) <= 5),
    earlier_label_keys text[] not null default '{}',
    time_zone          text not null,
    version            bigint not null check (version > 0),
    updated_at         timestamptz not null default clock_timestamp()
);
comment on table usage_settings is 'what a tenant states about its usage; a tenant without a row has no label keys, and UTC';
comment on column usage_settings.earlier_label_keys is 'keys that were declared once: usage of that time can be summed by them';

alter table usage_settings enable row level security;
alter table usage_settings force row level security;
create policy usage_settings_tenant on usage_settings to ${requestRole}
    using (tenant_id = current_setting('app.tenant', true)) with check (tenant_id = current_setting('app.tenant', true));
create policy usage_settings_system on usage_settings to ${systemRole} using (true) with check (true);
grant select, insert, update on usage_settings to ${requestRole};
revoke all on usage_settings from ${systemRole};
grant select on usage_settings to ${systemRole};

-- No key over all columns: names and values together may be longer than an index takes, and then no hour would close.
create table usage_label_hour (
    tenant_id    text not null,
    hour_ms      bigint not null,
    label_key    text not null,
    label_value  text,
    pool         text not null,
    class        text not null,
    standing     text not null,
    group_path   text not null,
    queue        text not null,
    submitted_by text not null,
    gpu_milli_ms bigint not null check (gpu_milli_ms > 0)
);
comment on table usage_label_hour is 'sums of the segments of closed hours by one label key each; append-only; never add sums of two keys';
comment on column usage_label_hour.hour_ms is 'end of its hour, as in closed_hour';
comment on column usage_label_hour.label_value is 'null where the key was declared and the workload has no such label';
create index usage_label_hour_key on usage_label_hour (tenant_id, hour_ms, label_key);

alter table usage_label_hour enable row level security;
alter table usage_label_hour force row level security;
create policy usage_label_hour_tenant on usage_label_hour for select to ${requestRole}
    using (tenant_id = current_setting('app.tenant', true));
create policy usage_label_hour_system on usage_label_hour to ${systemRole} using (true) with check (true);
grant select on usage_label_hour to ${requestRole};
revoke all on usage_label_hour from ${systemRole};
grant select, insert on usage_label_hour to ${systemRole};
create trigger usage_label_hour_hours after insert on usage_label_hour
    referencing new table as inserted for each statement execute function require_closed_hours();

create or replace function keep_closed_hours() returns trigger language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
    if exists (select 1 from removed r join segment s on s.tenant_id = r.tenant_id and s.hour_ms = r.hour_ms
                where not exists (select 1 from closed_hour h where h.tenant_id = r.tenant_id and h.hour_ms = r.hour_ms))
        or exists (select 1 from removed r join usage_hour u on u.tenant_id = r.tenant_id and u.hour_ms = r.hour_ms
                where not exists (select 1 from closed_hour h where h.tenant_id = r.tenant_id and h.hour_ms = r.hour_ms))
        or exists (select 1 from removed r join usage_label_hour u on u.tenant_id = r.tenant_id and u.hour_ms = r.hour_ms
                where not exists (select 1 from closed_hour h where h.tenant_id = r.tenant_id and h.hour_ms = r.hour_ms)) then
        raise exception 'a closed hour with segments or sums cannot be removed' using errcode = 'foreign_key_violation';
    end if;
    return null;
end $$;
