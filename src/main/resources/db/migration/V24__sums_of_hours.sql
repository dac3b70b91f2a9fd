-- What an hour sums up to, by what usage is mostly asked for: written with the segments of the hour, from which it follows.

create table usage_hour (
    tenant_id    text not null,
    hour_ms      bigint not null,
    pool         text not null references pool (name),
    class        text not null,
    standing     text,
    group_path   text,
    queue        text,
    submitted_by text,
    gpu_milli_ms bigint not null check (gpu_milli_ms > 0),
    unique nulls not distinct (tenant_id, hour_ms, pool, class, standing, group_path, queue, submitted_by),
    foreign key (tenant_id, hour_ms) references closed_hour
);
comment on table usage_hour is 'sums of the segments of closed hours; append-only';
comment on column usage_hour.hour_ms is 'end of its hour, as in closed_hour';
comment on column usage_hour.gpu_milli_ms is 'thousandths of a GPU times milliseconds';

alter table usage_hour enable row level security;
alter table usage_hour force row level security;
create policy usage_hour_tenant on usage_hour for select to ${requestRole}
    using (tenant_id = current_setting('app.tenant', true));
create policy usage_hour_system on usage_hour to ${systemRole} using (true) with check (true);
grant select on usage_hour to ${requestRole};
grant select, insert on usage_hour to ${systemRole};

-- Hours without sums: those that were closed before, and those that a replica of the previous version closes meanwhile.
alter table closed_hour add column summed boolean not null default false;
comment on column closed_hour.summed is 'whether usage_hour has the sums of the hour; until then they are made from its segments';
create index closed_hour_unsummed on closed_hour (tenant_id, hour_ms) where not summed;
grant update (summed) on closed_hour to ${systemRole};
