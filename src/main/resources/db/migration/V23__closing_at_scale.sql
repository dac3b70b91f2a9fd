-- The events that an hour needs: those stamped in it, and those that reach back into it. An hour is closed with a look at these alone.
create index usage_event_hour on usage_event (tenant_id, least(at_ms, since_ms), seq);

-- The book at the end of an hour is kept for a day, and at the end of a month; any other follows from the events.
alter table closed_hour alter column state drop not null;
create index closed_hour_state on closed_hour (tenant_id, hour_ms) where state is not null;
comment on column closed_hour.state is 'the book at the end of the hour; null where it was forgotten: it follows from an earlier one and the events';

-- Forgetting is all that the service may do to a closed hour.
grant update (state) on closed_hour to ${systemRole};
create function refuse_change_of_book() returns trigger language plpgsql as $$
begin
    raise exception 'the book of a closed hour never changes; it can only be forgotten';
end $$;
create trigger closed_hour_book before update of state on closed_hour
    for each row when (new.state is not null) execute function refuse_change_of_book();
