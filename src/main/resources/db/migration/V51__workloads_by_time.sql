-- Lists by start and by end. Lists by submission follow the id, whose first bits are the time. A migration of its own: reads
-- go on while the indexes are built, and only writes wait.
set local lock_timeout = '3s';

create index workload_by_start on workload (tenant_id, started_at, id) where started_at is not null;
create index workload_by_end on workload (tenant_id, ended_at, id) where ended_at is not null;
