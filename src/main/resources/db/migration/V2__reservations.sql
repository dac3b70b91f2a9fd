-- Work that started from a backfill reservation has a time slice: it is not reclaimed by the right of fair share at once.
alter table attempt add column from_reservation boolean not null default false;
comment on column attempt.from_reservation is 'whether it started from a backfill reservation: for the patience of the cell it is not reclaimed by the right of fair share';
