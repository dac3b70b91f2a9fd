-- Every submission writes these indexes, and no query needs them. Queries that order by seq read the live workloads by
-- workload_live, or the quarantined ones by workload_set_aside, and sort them.
drop index workload_seq;
-- The next rows of the inbox are read by inbox_by_tenant, or in the order of the primary key: the inbox is short.
drop index inbox_next;
