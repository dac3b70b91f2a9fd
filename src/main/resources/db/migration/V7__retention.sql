-- Rows whose time is over are found by their date, oldest first, and in small batches.

create index feed_at on feed (at);
create index operation_over on operation (kind, updated_at) where state in ('succeeded', 'failed');

-- These tables have rows come and go all day: what was deleted is cleared away before much of it lies there.
alter table feed set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);
alter table idempotency set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);
alter table inbox set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
