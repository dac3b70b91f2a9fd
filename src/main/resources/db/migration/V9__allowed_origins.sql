-- The origins whose scripts may call the API for a tenant: that of its portal, say. A tenant without a row allows none.

create table allowed_origins (
    tenant_id   text primary key references tenant,
    origins     jsonb not null check (jsonb_typeof(origins) = 'array' and jsonb_array_length(origins) <= 20),
    version     bigint not null check (version > 0),
    updated_at  timestamptz not null default clock_timestamp()
);
comment on table allowed_origins is 'what a browser is told when a page of another origin calls the API for a tenant';

alter table allowed_origins enable row level security;
alter table allowed_origins force row level security;
create policy allowed_origins_tenant on allowed_origins to ${requestRole}
    using (tenant_id = current_setting('app.tenant', true)) with check (tenant_id = current_setting('app.tenant', true));
create policy allowed_origins_system on allowed_origins to ${systemRole} using (true) with check (true);

grant select, insert, update on allowed_origins to ${requestRole};
grant select, insert, update, delete on allowed_origins to ${systemRole};
