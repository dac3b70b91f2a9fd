-- How far each tenant's realm is as the program wants it (tenancy.RealmUpkeep): which revision of its parts it has, and whether it is
-- closed to changes as that of a suspended tenant. A replica that works on one keeps the others off until the time given.
alter table tenant
    add column realm_revision    integer not null default 0,
    add column realm_suspended   boolean not null default false,
    add column realm_busy_until  timestamptz not null default '-infinity';
