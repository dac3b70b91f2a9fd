-- Quarantine of workloads and tenants: when the leader plans with them again by itself, and how often it had to set them aside.
-- Also: indexes for a fair choice among the tenants' inbox rows.

alter table workload
    add column set_aside_until timestamptz,
    add column set_aside_times int not null default 0;
alter table tenant
    add column set_aside_until timestamptz,
    add column set_aside_times int not null default 0;
comment on column workload.set_aside_until is 'the leader plans with it again from then on; null while it is not set aside';
comment on column workload.set_aside_times is 'how often it was set aside: each time for twice as long';
comment on column tenant.set_aside_until is 'the leader plans with it again from then on; null while it is not set aside';
comment on column tenant.set_aside_times is 'how often it was set aside: each time for twice as long';

-- The leader takes rows in turn by tenant, however many rows one tenant has.
create index inbox_by_tenant on inbox (cell_id, tenant_id, id) where set_aside_at is null;
create index inbox_set_aside on inbox (id) where set_aside_at is not null;
