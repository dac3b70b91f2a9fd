-- How long stopped work of any tenant may keep devices that others have a right to. A pool of before keeps what it allowed; a new one five minutes.
alter table pool add column max_grace_ms bigint not null default 3600000 check (max_grace_ms between 0 and 3600000);
alter table pool alter column max_grace_ms set default 300000;
comment on column pool.max_grace_ms is 'work that is stopped in it keeps its devices for at most this long, whatever its policy says';

alter table workload add column stop_by timestamptz;
comment on column workload.stop_by is 'when cancelled work is to have stopped at the latest, where that is sooner than its policy and pool allow';
grant update (stop_by) on workload to ${requestRole};
