-- The environment of a finished workload is emptied some time after its end; this finds those that still have one.
create index workload_environment on workload (ended_at) where ended_at is not null and environment <> '{}';
comment on column workload.environment is 'emptied some time after the workload''s end: people put secrets there';
