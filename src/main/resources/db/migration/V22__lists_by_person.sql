-- The lists of one person's work and of one person's changes, newest first; without these, a person with few of many is looked for among all.
create index workload_by_submitter on workload (tenant_id, submitted_by, id desc);
create index audit_entry_by_actor on audit_entry (tenant_id, actor, id desc);
