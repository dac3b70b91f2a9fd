-- The tables of Quartermaster. Three roles meet here: the owner (this script, nothing else), ${requestRole} (forced row-level
-- security, one tenant per transaction through app.tenant) and ${systemRole} (the leader, closing, issuer look-up, operators' lists).
-- Quantities: *_milli are thousandths of a GPU, *_ms milliseconds, *_mib mebibytes. Every tenant table begins its keys with tenant_id,
-- foreign keys included, so that no row can point into another tenant.

-- ---------------------------------------------------------------- the cell: what one leader plans

create table cell (
    id           text primary key,
    epoch        bigint not null default 0,
    leader       text,
    lease_until  timestamptz not null default '-infinity',
    stamp        timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
    sequence     bigint not null default 0
);
comment on column cell.stamp is 'time of the last committed plan; never goes back; whole milliseconds';
comment on column cell.sequence is 'number of the last usage event, feed entry or counter batch given out by a leader';
insert into cell (id) values ('main');

create table past_use (
    cell_id           text not null references cell,
    scope             text not null,
    path              text not null,
    average_gpu_nano  bigint not null,
    held_gpu_milli    bigint not null,
    as_of_ms          bigint not null,
    primary key (cell_id, scope, path)
);
comment on table past_use is 'with a fairness window: what each leaf of the quota trees held before; the leader''s, so no tenant reads it';
comment on column past_use.scope is 'name of a pool, or * for all pools together';
comment on column past_use.average_gpu_nano is 'moving average until as_of_ms, in billionths of a GPU; since then held_gpu_milli counts';

create table inbox (
    id            bigint generated always as identity primary key,
    -- No reference: every request would lock the one row that the leader writes in every turn.
    cell_id       text not null default 'main',
    tenant_id     text,
    kind          text not null check (kind in ('tenant', 'pool', 'node', 'allotment', 'policy', 'queue', 'profile', 'workload', 'report')),
    ref           text not null,
    created_at    timestamptz not null default clock_timestamp(),
    failures      int not null default 0,
    set_aside_at  timestamptz,
    set_aside_why text
);
create index inbox_next on inbox (cell_id, id) where set_aside_at is null;
comment on table inbox is 'names what changed; the leader reads the thing itself, so a row applied twice changes nothing';

-- ---------------------------------------------------------------- tenancy and access

create table tenant (
    id            text primary key check (id ~ '^[a-z][a-z0-9-]{1,38}[a-z0-9]$'),
    display_name  text not null,
    plan          text not null,
    realm         text not null unique,
    issuer        text not null unique,
    state         text not null check (state in ('provisioning', 'active', 'suspended', 'failed', 'offboarding', 'deleted')),
    created_at    timestamptz not null default clock_timestamp(),
    updated_at    timestamptz not null default clock_timestamp(),
    version       bigint not null default 0,
    set_aside_at  timestamptz,
    set_aside_why text
);
comment on column tenant.set_aside_at is 'no plan can be made with what is stored of its allotments and policies: the leader passes it over, with all its work and what that holds';
create index tenant_set_aside on tenant (id) where set_aside_at is not null;

create table operation (
    id           uuid primary key,
    tenant_id    text not null,
    kind         text not null,
    state        text not null check (state in ('pending', 'running', 'succeeded', 'failed')),
    request      jsonb not null default '{}',
    steps        jsonb not null default '[]',
    error        jsonb,
    attempts     int not null default 0,
    not_before   timestamptz not null default clock_timestamp(),
    owner        text,
    owner_until  timestamptz not null default '-infinity',
    created_at   timestamptz not null default clock_timestamp(),
    updated_at   timestamptz not null default clock_timestamp()
);
create index operation_tenant on operation (tenant_id, id);
create index operation_open on operation (not_before) where state in ('pending', 'running');

create table idempotency (
    tenant_id    text not null,
    caller       text not null,
    key          text not null check (length(key) between 1 and 255),
    fingerprint  text not null,
    status       int,
    headers      jsonb,
    body         text,
    created_at   timestamptz not null default clock_timestamp(),
    primary key (tenant_id, caller, key)
);
create index idempotency_age on idempotency (created_at);

create table audit_entry (
    tenant_id   text not null,
    id          uuid not null,
    at          timestamptz not null default clock_timestamp(),
    actor       text not null,
    actor_realm text not null,
    action      text not null,
    resource    text not null,
    before      jsonb,
    after       jsonb,
    request_id  text,
    format      int not null default 1,
    seq         bigint,
    prev_hash   bytea,
    hash        bytea,
    primary key (tenant_id, id)
);
create unique index audit_entry_chain on audit_entry (tenant_id, seq) where seq is not null;
create index audit_entry_unsealed on audit_entry (tenant_id, id) where seq is null;

-- ---------------------------------------------------------------- capacity (the operator's)

create table cluster (
    id          uuid primary key,
    name        text not null check (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
    kind        text not null check (kind in ('agent', 'kubernetes', 'slurm', 'simulated', 'external')),
    region      text not null,
    created_at  timestamptz not null default clock_timestamp(),
    version     bigint not null default 0,
    retired_at  timestamptz
);
create unique index cluster_name on cluster (name) where retired_at is null;

create table pool (
    id              uuid primary key,
    name            text not null check (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
    cell_id         text not null default 'main' references cell,
    placement       text not null default 'pack' check (placement in ('pack', 'spread')),
    share_gpus      text not null default 'tenant' check (share_gpus in ('tenant', 'any', 'none')),
    capacity_milli  bigint check (capacity_milli >= 0),
    elastic         boolean not null default false,
    topology_levels text[] not null default '{}',
    hours           jsonb,
    wait_before_preempting_ms bigint not null default 0 check (wait_before_preempting_ms >= 0),
    created_at      timestamptz not null default clock_timestamp(),
    version         bigint not null default 0,
    retired_at      timestamptz
);
create unique index pool_name on pool (name);
comment on column pool.name is 'never used again, not even after the pool is retired: decisions and reasons name pools';
comment on column pool.capacity_milli is 'a plain-count pool; null: what its nodes add up to';

create table node (
    id           uuid primary key,
    name         text not null check (name ~ '^[a-z0-9][a-z0-9.-]{0,62}$'),
    cluster_id   uuid not null references cluster,
    pool_id      uuid not null references pool,
    schedulable  boolean not null default true,
    cpu_milli    bigint,
    memory_mib   bigint,
    labels       jsonb not null default '{}',
    topology     text[] not null default '{}',
    revision     bigint not null default 0,
    created_at   timestamptz not null default clock_timestamp(),
    version      bigint not null default 0,
    retired_at   timestamptz
);
create unique index node_name on node (name) where retired_at is null;
comment on column node.revision is 'of what should run on it: set by the leader to the cell''s sequence whenever that changed';
create index node_pool on node (pool_id);

create table gpu (
    node_id       uuid not null references node,
    device_index  int not null check (device_index >= 0),
    uuid          text not null,
    model         text not null,
    memory_mib    bigint not null check (memory_mib > 0),
    mig           boolean not null default false,
    healthy       boolean not null default true,
    primary key (node_id, device_index)
);

create table node_contact (
    node_id        uuid primary key references node,
    agent_version  text not null,
    boot_id        text not null,
    instance_id    text not null,
    sequence       bigint not null default 0,
    isolation      text not null check (isolation in ('container', 'os-user', 'none')),
    cpu_milli      bigint,
    memory_mib     bigint,
    pausing        text check (pausing in ('signals', 'cuda-checkpoint')),
    last_heard     timestamptz not null,
    lease_until    timestamptz not null,
    lost_at        timestamptz
);
comment on column node_contact.lease_until is 'counted from when the service answered, with the margin; devices may be bound anew only after it';
comment on column node_contact.cpu_milli is 'what the agent sees; counts, as memory_mib does, where the node''s own row states nothing';
comment on column node_contact.pausing is 'how its agent lets work stand still off the devices; null: it cannot';
comment on column node_contact.lost_at is 'set by the leader when it gave the node up; cleared by the leader when the node is heard again';

create table allotment (
    tenant_id       text not null references tenant,
    pool_id         uuid not null references pool,
    reserved_milli  bigint not null default 0 check (reserved_milli >= 0),
    limit_milli     bigint check (limit_milli >= 0),
    weight          int check (weight >= 0),
    lendable_milli  bigint check (lendable_milli >= 0),
    rank            int not null default 0,
    override_reserved_milli bigint check (override_reserved_milli >= 0),
    override_limit_milli    bigint check (override_limit_milli >= 0),
    override_from   timestamptz,
    override_until  timestamptz,
    drain_by        timestamptz,
    fence           boolean not null default false,
    version         bigint not null default 0,
    primary key (tenant_id, pool_id),
    check (limit_milli is null or limit_milli >= reserved_milli),
    check (lendable_milli is null or lendable_milli <= reserved_milli),
    check (override_until is null or num_nonnulls(override_reserved_milli, override_limit_milli) > 0),
    check (override_until is not null or num_nonnulls(override_reserved_milli, override_limit_milli, override_from) = 0),
    check (override_until > override_from)
);

-- A window of the calendar that raises what is reserved; one that has begun is never removed, it ends.
create table capacity_reservation (
    tenant_id   text not null references tenant,
    id          uuid not null,
    pool_id     uuid not null references pool,
    policy_id   uuid,
    gpu_milli   bigint not null check (gpu_milli > 0),
    lendable    boolean not null,
    starts_at   timestamptz not null,
    ends_at     timestamptz not null,
    created_at  timestamptz not null default clock_timestamp(),
    primary key (tenant_id, id),
    check (ends_at > starts_at)
);
create index capacity_reservation_pool on capacity_reservation (pool_id, ends_at);
comment on column capacity_reservation.policy_id is 'whose group holds it; null: the tenant as a whole';

-- ---------------------------------------------------------------- governance (the tenant's)

create table profile (
    tenant_id       text not null references tenant,
    id              uuid not null,
    name            text not null check (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
    gpu_milli       bigint not null check (gpu_milli >= 0),
    gpu_devices     int not null default 1 check (gpu_devices between 1 and 256),
    gpu_memory_mib  bigint check (gpu_memory_mib > 0),
    mig             text check (mig ~ '^[1-7]g\.[0-9]+gb$'),
    max_gpus        int check (max_gpus * 1000::bigint >= gpu_milli),
    gpu_limit_milli int check (gpu_limit_milli between 1 and 1000 and gpu_limit_milli * gpu_devices::bigint >= gpu_milli),
    workers         int not null default 1 check (workers between 1 and 10000),
    min_workers     int not null default 1 check (min_workers between 1 and workers),
    cpu_milli       bigint not null default 0 check (cpu_milli >= 0),
    memory_mib      bigint not null default 0 check (memory_mib >= 0),
    node_labels     jsonb not null default '{}',
    required_level  text,
    preferred_level text,
    slice_workers   int,
    slice_level     text,
    pool_ids        uuid[] not null,
    moves_back      boolean not null default false,
    max_runtime_ms  bigint check (max_runtime_ms > 0),
    created_at      timestamptz not null default clock_timestamp(),
    version         bigint not null default 0,
    retired_at      timestamptz,
    primary key (tenant_id, id),
    check (slice_workers is null and slice_level is null
        or slice_workers > 0 and slice_level is not null and workers % slice_workers = 0 and min_workers % slice_workers = 0),
    check (gpu_memory_mib is null or gpu_milli = 0 and mig is null),
    check (max_gpus is null or gpu_milli > 0 and gpu_milli % 1000 = 0 and gpu_devices = 1 and mig is null)
);
comment on column profile.max_gpus is 'a worker may ask for any whole number of GPUs from gpu_milli up to this; null: it has gpu_milli';
comment on column profile.gpu_limit_milli is 'of each of its GPUs, what work of a part may use while nobody else does; null: no more than its part';
comment on column profile.gpu_milli is 'what one worker counts as; 0 for a share by memory, which counts as its part of the GPU that it is given';
comment on column profile.gpu_devices is 'over how many GPUs of a node a part is spread, evenly; gpu_memory_mib is of each';

-- Reads the GPUs of nodes, which no tenant may: it answers what a share by memory counts as, and nothing else.
create function waiting_gpu_milli(pool uuid, each_mib bigint, devices int) returns bigint
    language sql stable security definer set search_path = public as $$
    select devices * coalesce((each_mib * 1000 + min(g.memory_mib) - 1) / min(g.memory_mib), 1000)
      from gpu g join node n on n.id = g.node_id and n.retired_at is null
     where n.pool_id = pool and g.healthy and g.memory_mib >= each_mib
$$;
comment on function waiting_gpu_milli is 'what a share by memory counts as in a pool while it waits: as its part of the smallest GPU that holds it, rounded up';

create function asked_gpu_milli(gpus int, gpu_milli bigint, max_gpus int) returns bigint
    language sql immutable as $$
    select case when max_gpus is null then gpu_milli else greatest(gpu_milli, least(coalesce(gpus, 0), max_gpus) * 1000::bigint) end
$$;
comment on function asked_gpu_milli is 'what one worker counts as whose workload names so many GPUs: the nearest amount that its profile allows, the least where it names none';

create unique index profile_name on profile (tenant_id, name) where retired_at is null;

create table policy (
    tenant_id      text not null references tenant,
    id             uuid not null,
    name           text not null check (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
    group_path     text not null check (group_path ~ '^(/[^/]+)+$'),
    over_quota     boolean not null default true,
    on_preemption  text not null default 'requeue' check (on_preemption in ('requeue', 'end', 'pause')),
    grace_ms       bigint not null default 30000 check (grace_ms between 0 and 3600000),
    user_limit_milli bigint check (user_limit_milli >= 0),
    max_running    int check (max_running > 0),
    drift_since    timestamptz,
    created_at     timestamptz not null default clock_timestamp(),
    version        bigint not null default 0,
    retired_at     timestamptz,
    primary key (tenant_id, id)
);
comment on column policy.drift_since is 'since when the realm lacks its group: nothing of it starts meanwhile; null: the group is there';
create unique index policy_name on policy (tenant_id, name) where retired_at is null;
create unique index policy_group on policy (tenant_id, group_path) where retired_at is null;

alter table capacity_reservation add foreign key (tenant_id, policy_id) references policy;

create table policy_quota (
    tenant_id       text not null,
    policy_id       uuid not null,
    pool_id         uuid references pool,
    reserved_milli  bigint not null default 0 check (reserved_milli >= 0),
    limit_milli     bigint check (limit_milli >= 0),
    weight          int check (weight >= 0),
    lendable_milli  bigint check (lendable_milli >= 0),
    rank            int not null default 0,
    override_reserved_milli bigint check (override_reserved_milli >= 0),
    override_limit_milli    bigint check (override_limit_milli >= 0),
    override_from   timestamptz,
    override_until  timestamptz,
    drain_by        timestamptz,
    fence           boolean not null default false,
    unique nulls not distinct (tenant_id, policy_id, pool_id),
    foreign key (tenant_id, policy_id) references policy,
    check (limit_milli is null or limit_milli >= reserved_milli),
    check (lendable_milli is null or lendable_milli <= reserved_milli),
    check (override_until is null or num_nonnulls(override_reserved_milli, override_limit_milli) > 0),
    check (override_until is not null or num_nonnulls(override_reserved_milli, override_limit_milli, override_from) = 0),
    check (override_until > override_from)
);
comment on column policy_quota.pool_id is 'null: scope *, counted over all pools together';

create table queue (
    tenant_id        text not null references tenant,
    id               uuid not null,
    name             text not null check (name ~ '^[a-z0-9][a-z0-9-]{0,126}$'),
    policy_id        uuid not null,
    profile_id       uuid not null,
    over_quota       boolean not null default true,
    max_waiting      int not null default 10000 check (max_waiting between 0 and 1000000),
    state            text not null default 'open' check (state in ('open', 'held', 'draining')),
    start_order      text not null default 'skip-ahead' check (start_order in ('skip-ahead', 'strict-fifo')),
    created_at       timestamptz not null default clock_timestamp(),
    version          bigint not null default 0,
    retired_at       timestamptz,
    primary key (tenant_id, id),
    foreign key (tenant_id, policy_id) references policy,
    foreign key (tenant_id, profile_id) references profile
);
create unique index queue_name on queue (tenant_id, name) where retired_at is null;
create unique index queue_pair on queue (tenant_id, policy_id, profile_id) where retired_at is null;

create table access_rule (
    tenant_id     text not null references tenant,
    id            uuid not null,
    queue_id      uuid not null,
    subject_kind  text not null check (subject_kind in ('group', 'user', 'service-account', 'everyone')),
    subject       text not null,
    primary key (tenant_id, id),
    unique (tenant_id, queue_id, subject_kind, subject),
    foreign key (tenant_id, queue_id) references queue
);

-- ---------------------------------------------------------------- workloads

create table workload (
    -- The tenant is the queue's: a reference of its own would lock the tenant's row in every submission.
    tenant_id       text not null,
    id              uuid not null,
    seq             bigint generated always as identity,
    name            text not null check (length(name) between 1 and 128),
    type            text not null check (type in ('training', 'distributed-training', 'inference', 'workspace', 'service')),
    queue_id        uuid not null,
    policy_id       uuid not null,
    profile_id      uuid not null,
    submitted_by    text not null,
    submitter       text,
    priority        int not null check (priority between 0 and 1000),
    preemptible     boolean not null,
    dedicated_only  boolean not null default false,
    command         jsonb not null,
    environment     jsonb not null default '{}',
    abort_callback  jsonb,
    max_runtime_ms  bigint check (max_runtime_ms > 0),
    gpus            int check (gpus > 0),
    min_gpus        int check (min_gpus > 0),
    labels          jsonb not null default '{}',
    submitted_at    timestamptz not null default clock_timestamp(),
    -- wishes: what the API asks for
    wish            text not null default 'run' check (wish in ('run', 'hold', 'cancel')),
    place           int check (place > 0),
    -- below: written by the leader alone
    state           text not null default 'waiting'
        check (state in ('held', 'waiting', 'starting', 'running', 'stopping', 'paused', 'succeeded', 'failed', 'cancelled')),
    attempts        int not null default 0,
    at_head_since   timestamptz,
    quick_losses    int not null default 0,
    retry_at        timestamptz,
    paused_attempt  uuid,
    paused_node     uuid references node,
    paused_until    timestamptz,
    set_aside_at    timestamptz,
    set_aside_why   text,
    reason_code     text,
    reason          jsonb,
    reason_at       timestamptz,
    started_at      timestamptz,
    ended_at        timestamptz,
    end_reason      text,
    changed_at      timestamptz not null default clock_timestamp(),
    primary key (tenant_id, id),
    foreign key (tenant_id, queue_id) references queue
);
comment on column workload.gpus is 'whole GPUs of one worker, as its submission names them within the range of its profile; see asked_gpu_milli';
comment on column workload.place is 'an admin''s order of its queue: lower goes first within its priority, before those without; null once it starts';
comment on column workload.min_gpus is 'with how many of them it starts where it cannot have all; null: with no fewer';
comment on column workload.quick_losses is 'attempts in a row that were lost soon after they were bound';
comment on column workload.retry_at is 'because of them it is not tried again before';
comment on column workload.paused_attempt is 'whose processes stand still on paused_node, or are being ended there; null once they were taken over or are over';
comment on column workload.paused_until is 'they are given up at that time if they did not go on before';
comment on column workload.submitter is 'the subject of the token: whose it is. submitted_by is the name they had, for showing; another may bear it later';
comment on column workload.set_aside_at is 'no plan can be made with what is stored of it: the leader passes it over, and over what it holds';
create unique index workload_seq on workload (seq);
create index workload_set_aside on workload (id) where set_aside_at is not null;
create unique index workload_by_id on workload (id);
create index workload_paused on workload (paused_node) where paused_attempt is not null;
create index workload_live on workload (tenant_id, queue_id) where state not in ('succeeded', 'failed', 'cancelled');

create table attempt (
    tenant_id    text not null,
    id           uuid not null,
    workload_id  uuid not null,
    number       int not null check (number > 0),
    worker       int check (worker > 0),
    state        text not null check (state in ('bound', 'starting', 'running', 'stopping', 'ended')),
    outcome      text check (outcome in ('succeeded', 'failed', 'out-of-memory', 'preempted', 'paused', 'cancelled', 'timed-out', 'lost')),
    pool_id      uuid not null references pool,
    gpu_milli    bigint not null check (gpu_milli >= 0),
    resumes      uuid,
    rule         text check (rule in ('within-reserved', 'over-quota', 'nominated', 'open')),
    bound_at     timestamptz not null,
    started_at   timestamptz,
    stopping_at  timestamptz,
    stop_reason  text,
    deadline_at  timestamptz,
    ended_at     timestamptz,
    exit_code    int,
    message      text,
    primary key (tenant_id, id),
    foreign key (tenant_id, workload_id) references workload,
    check ((state = 'ended') = (outcome is not null)),
    check ((state = 'ended') = (ended_at is not null))
);
create index attempt_live on attempt (tenant_id, workload_id) where state <> 'ended';
create unique index attempt_number on attempt (tenant_id, workload_id, number) where worker is null;
create unique index attempt_worker on attempt (tenant_id, workload_id, worker) where worker is not null and state <> 'ended';
create index attempt_surplus on attempt (tenant_id, workload_id, number) where worker is not null;
comment on column attempt.worker is 'a surplus worker of an elastic workload, beyond those that its attempt of this number started with; null: that attempt itself';
comment on column attempt.resumes is 'the paused attempt whose processes it takes over; where they are gone it starts anew';
comment on table attempt is 'an attempt holds one allocation from bound_at to ended_at; its devices are in allocation_device';

create table allocation_device (
    tenant_id     text not null,
    attempt_id    uuid not null,
    worker        int not null check (worker >= 0),
    node_id       uuid references node,
    device_index  int,
    gpu_milli     bigint not null check (gpu_milli >= 0),
    mig           text,
    mig_first     int check (mig_first between 0 and 7),
    freed_at      timestamptz,
    foreign key (tenant_id, attempt_id) references attempt,
    unique nulls not distinct (tenant_id, attempt_id, worker, node_id, device_index),
    check ((mig is null) = (mig_first is null))
);
comment on column allocation_device.mig is 'the profile of the MIG instance that it is, which begins at the memory slice mig_first';
create index allocation_device_held on allocation_device (node_id, device_index) where freed_at is null;
-- The last line of defence against giving one whole GPU out twice: two live holders of a device may never both hold all of it.
create unique index allocation_device_whole on allocation_device (node_id, device_index)
    where freed_at is null and gpu_milli = 1000 and device_index is not null;

create table nomination (
    tenant_id     text not null,
    workload_id   uuid not null,
    pool_id       uuid not null references pool,
    body          jsonb not null,
    nominated_at  timestamptz not null,
    primary key (tenant_id, workload_id),
    foreign key (tenant_id, workload_id) references workload
);

create table report (
    tenant_id    text not null,
    attempt_id   uuid not null,
    node_id      uuid not null references node,
    state        text not null check (state in ('starting', 'running', 'stopping', 'paused', 'ended')),
    outcome      text,
    exit_code    int,
    message      text,
    started_at   timestamptz,
    ended_at     timestamptz,
    log_tail     text,
    log_bytes    bigint not null default 0,
    reported_at  timestamptz not null,
    primary key (tenant_id, attempt_id, node_id),
    foreign key (tenant_id, attempt_id) references attempt
);
comment on table report is 'what executors say; the leader reads it and writes the attempt';

create table preemption (
    tenant_id     text not null,
    id            uuid not null,
    workload_id   uuid not null,
    attempt_id    uuid not null,
    cause         text not null check (cause in ('reclaim', 'preempt', 'consolidate', 'drain', 'close', 'budget')),
    for_workload  uuid,
    receipt       jsonb not null,
    format        int not null default 1,
    at            timestamptz not null,
    primary key (tenant_id, id),
    foreign key (tenant_id, workload_id) references workload
);
comment on column preemption.for_workload is 'the successor, when it is of the same tenant; else null: other tenants are never named';

create table feed (
    tenant_id  text not null,
    seq        bigint not null,
    kind       text not null,
    ref        text not null,
    body       jsonb not null,
    at         timestamptz not null,
    primary key (tenant_id, seq)
);
comment on table feed is 'what live views stream: written by the leader in the plan commit, in the order of seq';

-- ---------------------------------------------------------------- usage

create table usage_event (
    seq            bigint primary key,
    cell_id        text not null references cell,
    tenant_id      text not null,
    at_ms          bigint not null,
    kind           text not null check (kind in ('allocated', 'phase', 'freed', 'tenant-reserved', 'policy-reserved', 'unmet')),
    pool_id        uuid not null references pool,
    pool           text not null references pool (name),
    allocation_id  uuid,
    policy_id      uuid,
    gpu_milli      bigint,
    phase          text,
    since_ms       bigint,
    marks          jsonb,
    format         int not null default 1
);
create index usage_event_tenant on usage_event (tenant_id, seq);
create index usage_event_levels on usage_event (tenant_id, kind, pool_id, policy_id, seq desc)
    where kind in ('tenant-reserved', 'policy-reserved', 'unmet');
comment on table usage_event is 'the ledger''s only input; append-only, seq is the order of commit';
comment on column usage_event.pool is 'the name, by which the books go: a tenant reads its events also of pools it has no part in any more';

create table closed_hour (
    tenant_id   text not null references tenant,
    hour_ms     bigint not null,
    through_seq bigint not null,
    state       jsonb not null,
    format      int not null default 1,
    records     bigint not null,
    last_hash   bytea not null,
    closed_at   timestamptz not null,
    primary key (tenant_id, hour_ms)
);
comment on column closed_hour.hour_ms is 'end of the closed hour, milliseconds since the epoch; state is the book at that instant';
comment on column closed_hour.through_seq is 'the last usage event that the state includes; the next hour goes on after it';
comment on column closed_hour.records is 'number of the last segment in the tenant''s chain by then, of which last_hash is the hash';

create table segment (
    tenant_id      text not null references tenant,
    seq            bigint not null,
    id             uuid not null,
    hour_ms        bigint not null,
    pool           text not null references pool (name),
    class          text not null check (class in ('reserved', 'on-demand', 'reserved-idle', 'reserved-unmet')),
    standing       text check (standing in ('within', 'over-quota')),
    phase          text check (phase in ('starting', 'running', 'stopping', 'out-of-contact')),
    preemptible    boolean,
    allocation_id  uuid,
    attempt_id     uuid,
    workload_id    uuid,
    policy_id      uuid,
    group_path     text,
    profile        text,
    queue          text,
    submitted_by   text,
    cluster        text,
    gpu_milli      bigint not null check (gpu_milli > 0),
    from_ms        bigint not null,
    to_ms          bigint not null check (to_ms > from_ms),
    format         int not null default 1,
    prev_hash      bytea not null,
    hash           bytea not null,
    primary key (tenant_id, seq),
    unique (tenant_id, id),
    foreign key (tenant_id, hour_ms) references closed_hour
);
create index segment_hour on segment (tenant_id, hour_ms);
create table books_audit (
    id     uuid primary key references operation on delete cascade,
    found  jsonb not null,
    at     timestamptz not null default clock_timestamp()
);
comment on table books_audit is 'what audits of the books found, by the operation that did them; the operator''s, so no tenant reads it';

comment on table segment is 'closed usage: append-only, hash-chained per tenant by seq';
comment on column segment.hour_ms is 'end of its hour, as in closed_hour';

-- ---------------------------------------------------------------- rights

grant usage on schema public to ${requestRole}, ${systemRole};

do $$
declare t text;
begin
    foreach t in array array['inbox', 'tenant', 'operation', 'idempotency', 'audit_entry', 'allotment', 'capacity_reservation', 'profile', 'policy', 'policy_quota', 'queue',
        'access_rule', 'workload', 'attempt', 'allocation_device', 'nomination', 'report', 'preemption', 'feed', 'usage_event', 'closed_hour', 'segment']
    loop
        execute format('alter table %I enable row level security', t);
        execute format('alter table %I force row level security', t);
        execute format('create policy %I on %I to ${requestRole} using (%s = current_setting(''app.tenant'', true)) with check (%s = current_setting(''app.tenant'', true))',
            t || '_tenant', t, case t when 'tenant' then 'id' else 'tenant_id' end, case t when 'tenant' then 'id' else 'tenant_id' end);
        execute format('create policy %I on %I to ${systemRole} using (true) with check (true)', t || '_system', t);
    end loop;
end $$;

-- A tenant sees the pools it has an allotment in, and what of clusters and nodes that takes; writing them is the operator's.
alter table pool enable row level security;
alter table pool force row level security;
create policy pool_tenant on pool for select to ${requestRole}
    using (exists (select 1 from allotment a where a.pool_id = pool.id and a.tenant_id = current_setting('app.tenant', true)));
create policy pool_system on pool to ${systemRole} using (true) with check (true);

grant select on tenant, operation, idempotency, allotment, capacity_reservation, profile, policy, policy_quota, queue, access_rule, workload, attempt, allocation_device,
    nomination, report, preemption, feed, usage_event, closed_hour, segment, audit_entry, pool to ${requestRole};
-- Usage is known as of the stamp.
grant select (id, stamp) on cell to ${requestRole};
grant insert on inbox, idempotency, audit_entry, allotment, capacity_reservation, profile, policy, policy_quota, queue, access_rule, operation to ${requestRole};
grant update on allotment, capacity_reservation, profile, policy, policy_quota, queue, access_rule, idempotency to ${requestRole};
grant delete on allotment, capacity_reservation, policy_quota, access_rule, idempotency to ${requestRole};
-- The API writes wishes; the leader alone writes states. The database holds it to that.
grant insert (tenant_id, id, name, type, queue_id, policy_id, profile_id, submitted_by, submitter, priority, preemptible, dedicated_only, command, environment,
    abort_callback, max_runtime_ms, gpus, min_gpus, labels, submitted_at, wish, state) on workload to ${requestRole};
grant update (wish, place, priority, labels, queue_id, policy_id, profile_id) on workload to ${requestRole};

grant select, insert, update, delete on all tables in schema public to ${systemRole};
-- Books are append-only for everybody but their owner.
revoke update, delete on usage_event, segment, closed_hour from ${systemRole};
revoke all on flyway_schema_history from ${systemRole};
