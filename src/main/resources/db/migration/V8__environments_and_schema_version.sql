-- The environment of a finished workload is emptied some time after its end; this finds those that still have one.
create index workload_environment on workload (ended_at) where ended_at is not null and environment <> '{}';
comment on column workload.environment is 'emptied some time after the workload''s end: people put secrets there';

-- A replica without the owner's account looks here whether the database has the schema that it was built for.
grant select on flyway_schema_history to ${systemRole};
