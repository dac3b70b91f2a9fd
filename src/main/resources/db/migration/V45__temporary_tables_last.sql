-- Without it, PostgreSQL would look for tables among a session's temporary ones first.
alter function waiting_gpu_milli(uuid, bigint, int) set search_path = public, pg_temp;
alter function node_shapes(uuid) set search_path = public, pg_temp;
alter function refuse_change_of_book() set search_path = public, pg_temp;
