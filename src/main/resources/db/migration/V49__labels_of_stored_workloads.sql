-- The labels of the workloads of before. Submissions go on meanwhile: their labels are written by the triggers.
insert into workload_label (tenant_id, key, value, workload_id)
select w.tenant_id, l.key, l.value, w.id from workload w cross join lateral jsonb_each_text(w.labels) l
 where w.labels <> '{}'
    on conflict do nothing;
drop policy workload_label_owner on workload_label;
drop policy workload_owner on workload;
