-- The names of the profiles whose work goes first in a pool, in order.
alter table pool add column profile_order text[] not null default '{}';
