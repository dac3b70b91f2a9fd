-- A segment's pool is that of a usage event. Alone in its migration, because it locks the table of pools.
alter table segment drop constraint segment_pool_fkey;
