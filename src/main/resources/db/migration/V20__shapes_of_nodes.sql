-- Reads nodes and their GPUs, which no tenant may: it says of what shapes the nodes of a pool are, without saying which they are or what runs there.
-- Broken GPUs count, for they may be repaired. A pool with a node that never reported has no rows: nobody knows yet what that node has.
create function node_shapes(pool uuid) returns table (shape text, nodes bigint)
    language sql stable security definer set search_path = public as $$
    select s.shape, count(*)
      from (select cast(json_build_object('labels', n.labels, 'cpuMilli', coalesce(n.cpu_milli, c.cpu_milli), 'memoryMiB', coalesce(n.memory_mib, c.memory_mib),
                       'gpus', (select coalesce(json_agg(json_build_object('memoryMiB', g.memory_mib, 'mig', g.mig) order by g.device_index), '[]')
                                  from gpu g where g.node_id = n.id)) as text) as shape
              from node n left join node_contact c on c.node_id = n.id
             where n.pool_id = pool and n.retired_at is null
               and not exists (select 1 from node m where m.pool_id = pool and m.retired_at is null
                                   and not exists (select 1 from node_contact k where k.node_id = m.id))) s
     group by s.shape
$$;
comment on function node_shapes is 'the shapes of a pool''s nodes and how many nodes have each, broken GPUs included; none where a node never reported; for checks whether a profile could ever run there';
