-- A sum's pool is that of its segments. Closing pays for each check per sum. Alone in its migration, because it locks the
-- table of pools.

-- A long reader must not hold up all that would wait behind this lock: the migration fails, and can be repeated.
set local lock_timeout = '3s';
alter table usage_hour drop constraint usage_hour_pool_fkey;
