package io.quartermaster.dispatch.commit;

import io.quartermaster.dispatch.read.CellReader;
import io.quartermaster.dispatch.transaction.Fence;
import io.quartermaster.platform.db.SystemTransaction;
import io.vertx.mutiny.sqlclient.Row;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;

/** Gives up the nodes whose lease has run out: what ran there has stopped by then, by its supervisor's own clock. */
public final class NodeLossHandler {

    /** In one turn: after an outage all may be lost, and a turn has a time limit. */
    public static final int MOST = 500;

    private NodeLossHandler() {}

    /**
     * Those whose lease ran out first, so many at most. A contact row that an agent's call has locked right now is left to the next turn.
     *
     * @return when each was last heard
     */
    public static Map<UUID, Long> giveUp(SystemTransaction transaction, Fence fence) {
        Map<UUID, Long> lost = new TreeMap<>();
        for (Row row : transaction.run("""
                update node_contact set lost_at = $1
                 where node_id = any (array(
                    select node_id from node_contact where lost_at is null and lease_until <= $1
                     order by lease_until, node_id limit $2 for update skip locked))
                returning node_id, last_heard
                """, fence.stamp(), MOST)) {
            lost.put(row.getUUID("node_id"), CellReader.millis(row.getOffsetDateTime("last_heard")));
        }
        if (!lost.isEmpty()) {
            reportLost(transaction, fence, CellReader.array(lost.keySet()));
        }
        return lost;
    }

    /**
     * What ran on a lost node is over, for good: said in its name, so that an attempt of several nodes can end in a later cycle, when the
     * others have stopped. What its agent may say later counts no more.
     */
    private static void reportLost(SystemTransaction transaction, Fence fence, UUID[] nodes) {
        transaction.run("""
                insert into report as r (tenant_id, attempt_id, node_id, state, outcome, message, reported_at, silent_since)
                select distinct a.tenant_id, a.id, d.node_id, 'ended', 'lost', 'the node''s lease ended before it was heard again', $2::timestamptz, c.last_heard
                  from allocation_device d join attempt a on a.tenant_id = d.tenant_id and a.id = d.attempt_id
                  join node_contact c on c.node_id = d.node_id
                 where d.node_id = any($1) and d.freed_at is null and a.state <> 'ended'
                union
                select tenant_id, paused_attempt, paused_node, 'ended', 'lost', 'the node''s lease ended while it was paused', $2::timestamptz, null
                  from workload where paused_node = any($1) and paused_attempt is not null
                on conflict (tenant_id, attempt_id, node_id) do update set state = 'ended', outcome = 'lost', message = excluded.message,
                       reported_at = excluded.reported_at, silent_since = excluded.silent_since where r.state <> 'ended'
                """, nodes, fence.stamp());
    }
}
