-- A sum's pool is that of its segments. Closing pays for each check per sum. Alone in its migration, because it locks the
-- table of pools.
alter table usage_hour drop constraint usage_hour_pool_fkey;
