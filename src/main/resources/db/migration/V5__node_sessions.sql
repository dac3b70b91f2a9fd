-- Sessions of nodes: an agent that has logged in with Keycloak once goes on without it.

alter table node add column credential_issued_at timestamptz not null default clock_timestamp();
comment on column node.credential_issued_at is 'tokens of Keycloak that are older open no session: they may have been got with a credential that was replaced';

create table node_session (
    token_hash  bytea primary key check (length(token_hash) = 32),
    node_id     uuid not null references node,
    created_at  timestamptz not null default clock_timestamp(),
    expires_at  timestamptz not null
);
create index node_session_of_node on node_session (node_id, created_at);
comment on column node_session.token_hash is 'SHA-256 of the token, which is stored nowhere';

-- Two agents with the credential of one node.

alter table node_contact add column state_id uuid;
comment on column node_contact.state_id is 'of the state folder of the agent that holds the lease; null: the agent does not tell';
alter table node_contact add column other_agent_seen_at timestamptz;
comment on column node_contact.other_agent_seen_at is 'when another agent with this node''s credential was last refused';

-- Tenants on nodes that do not keep them apart.

alter table pool add column tenants_trust_each_other boolean not null default false;
comment on column pool.tenants_trust_each_other is 'stated by the operator: its nodes may serve several tenants though they do not keep them apart';
alter table allotment add column granted_at timestamptz not null default clock_timestamp();
comment on column allotment.granted_at is 'on nodes that do not keep tenants apart, work of the tenant whose allotment is oldest may start';

grant select, insert, update, delete on node_session to ${systemRole};
