-- A segment's tenant is that of its closed hour. Closing pays for each check per segment. Alone in its migration, because
-- it locks the table of tenants.
alter table segment drop constraint segment_tenant_id_fkey;
