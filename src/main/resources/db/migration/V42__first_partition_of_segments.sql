-- The table of today becomes the first partition of the segments, by the end of their hour. The check tells PostgreSQL that
-- all its rows are in bounds, so that attaching it reads none. It leaves a replica of the previous version a month at least.
-- A long reader must not hold up all that would wait behind this lock: the migration fails, and can be repeated.
set local lock_timeout = '3s';
do $$
declare bound timestamptz := (date_trunc('month', now() at time zone 'UTC') + interval '2 months') at time zone 'UTC';
begin
    execute format('alter table segment add constraint segment_first_hours check (hour_ms < %s) not valid',
        extract(epoch from bound)::bigint * 1000 + 1);
end $$;
