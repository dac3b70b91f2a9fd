-- Waiting work can be changed: the version is the ETag of what a change may set. The leader's writes leave it as it is.

-- A long reader must not hold up all that would wait behind this lock: the migration fails, and can be repeated.
set local lock_timeout = '3s';

alter table workload add column version bigint not null default 0;
-- The environments of work that has ended by now may have been emptied, and nothing says whether they were. So the rows of
-- before get the time of this migration, without being written. New rows get none.
alter table workload add column environment_removed_at timestamptz default now();
alter table workload alter column environment_removed_at drop default;
comment on column workload.version is 'counts the changes of what a request may change: queue, priority, maximum run time, labels';
comment on column workload.environment_removed_at is 'an empty environment of a workload that had ended by this time was emptied, or may have been; null: it is as submitted';
grant update (version, max_runtime_ms, at_head_since) on workload to ${requestRole};

-- The labels of workloads as rows: row-level security keeps an index of jsonb from being used, but not one of texts.
create table workload_label (
    tenant_id    text not null,
    key          text not null,
    value        text not null,
    workload_id  uuid not null,
    primary key (tenant_id, key, value, workload_id)
);
comment on table workload_label is 'workload.labels, one row per label; triggers alone write it';
create index workload_label_of on workload_label (tenant_id, workload_id);

alter table workload_label enable row level security;
alter table workload_label force row level security;
create policy workload_label_tenant on workload_label to ${requestRole}
    using (tenant_id = current_setting('app.tenant', true)) with check (tenant_id = current_setting('app.tenant', true));
create policy workload_label_system on workload_label to ${systemRole} using (true) with check (true);
grant select, insert, delete on workload_label to ${requestRole}, ${systemRole};

create function add_workload_labels() returns trigger language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
    insert into workload_label (tenant_id, key, value, workload_id)
    select a.tenant_id, l.key, l.value, a.id from added a cross join lateral jsonb_each_text(a.labels) l
        on conflict do nothing;
    return null;
end
$$;
create trigger workload_labels_added after insert on workload
    referencing new table as added for each statement execute function add_workload_labels();

create function change_workload_labels() returns trigger language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
    delete from workload_label where tenant_id = new.tenant_id and workload_id = new.id;
    insert into workload_label (tenant_id, key, value, workload_id)
    select new.tenant_id, l.key, l.value, new.id from jsonb_each_text(new.labels) l;
    return null;
end
$$;
create trigger workload_labels_changed after update of labels on workload
    for each row when (old.labels is distinct from new.labels) execute function change_workload_labels();

-- The next migration reads the labels of all tenants; a policy of its own lets the owner do that without a long lock.
create policy workload_owner on workload for select to current_user using (true);
create policy workload_label_owner on workload_label to current_user using (true) with check (true);

-- How long the leader's cycles take, for the operator: any replica answers, and only the leader measures.
alter table cell
    add column cycle_median_ms bigint,
    add column cycle_p99_ms bigint,
    add column cycle_times_at timestamptz;
comment on column cell.cycle_median_ms is 'of the cycles with changes in the last minutes, as its leader measured them; null: it has not yet';
