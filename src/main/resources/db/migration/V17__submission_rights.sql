-- What submissions under a policy may state. A policy of before keeps what it allowed; a new one allows nothing beyond the types' defaults.
alter table policy add column max_priority int default 1000 check (max_priority between 0 and 1000);
alter table policy add column non_preemptible boolean not null default true;
alter table policy alter column max_priority set default null;
alter table policy alter column non_preemptible set default false;
comment on column policy.max_priority is 'the highest priority that a submission may state; null: the default of its type';
comment on column policy.non_preemptible is 'whether submissions may be non-preemptible, be it stated or by their type';

-- For the one count of all tenants, which goes to the log; row-level security holds for the owner again when this commits.
alter table policy no force row level security;
do $$
declare
    policies bigint;
begin
    select count(*) into policies from policy where retired_at is null;
    if policies > 0 then
        raise warning 'policies that let every submission take any priority and be non-preemptible, as before this upgrade: %. State a lower maxPriority or nonPreemptible false in each; GET .../policies warns until then', policies;
    end if;
end
$$;
alter table policy force row level security;
