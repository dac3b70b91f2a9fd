package io.quartermaster.dispatch.commit;

import io.quartermaster.dispatch.read.CellReader;
import io.quartermaster.dispatch.transaction.Fence;
import io.quartermaster.platform.db.SystemTransaction;
import io.vertx.mutiny.sqlclient.Row;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.jboss.logging.Logger;

/**
 * Gives up the nodes whose lease has expired. Their attempts have stopped by then: each supervisor enforces the lease
 * by its own clock.
 */
public final class NodeLossHandler {

    /** The most nodes in one cycle: after an outage all nodes may be lost, and a cycle has a time limit. */
    public static final int MAX_NODES_PER_CYCLE = 500;

    private static final Logger LOG = Logger.getLogger(NodeLossHandler.class);

    private NodeLossHandler() {}

    /**
     * Gives up the nodes whose lease expired first, up to the limit. A contact row that an agent's call has locked
     * waits for the next cycle.
     *
     * @return the last contact of each node
     */
    public static Map<UUID, Long> markLostNodes(SystemTransaction transaction, Fence fence) {
        Map<UUID, Long> lost = new TreeMap<>();
        for (Row row : transaction.run("""
                update node_contact set lost_at = $1
                 where node_id = any (array(
                    select node_id from node_contact where lost_at is null and lease_until <= $1
                     order by lease_until, node_id limit $2 for update skip locked))
                returning node_id, last_heard
                """, fence.stamp(), MAX_NODES_PER_CYCLE)) {
            lost.put(row.getUUID("node_id"), CellReader.millis(row.getOffsetDateTime("last_heard")));
        }
        if (!lost.isEmpty()) {
            LOG.warnf("gave up %d nodes whose lease expired: %s", lost.size(), lost.keySet());
            reportLost(transaction, fence, CellReader.array(lost.keySet()));
        }
        return lost;
    }

    /**
     * Records that everything on a lost node has ended, for good. The leader writes the report on behalf of the node.
     * So an attempt on several nodes can end in a later cycle, when the other nodes have stopped. Later reports of the
     * node's agent no longer count.
     */
    private static void reportLost(SystemTransaction transaction, Fence fence, UUID[] nodes) {
        transaction.run("""
                insert into report as r (tenant_id, attempt_id, node_id, state, outcome, message, reported_at,
                    silent_since)
                select distinct a.tenant_id, a.id, d.node_id, 'ended', 'lost',
                    'the node''s lease ended before it was heard again', $2::timestamptz, c.last_heard
                  from allocation_device d join attempt a on a.tenant_id = d.tenant_id and a.id = d.attempt_id
                  join node_contact c on c.node_id = d.node_id
                 where d.node_id = any($1) and d.freed_at is null and a.state <> 'ended'
                union
                select tenant_id, paused_attempt, paused_node, 'ended', 'lost',
                    'the node''s lease ended while it was paused', $2::timestamptz, null
                  from workload where paused_node = any($1) and paused_attempt is not null
                on conflict (tenant_id, attempt_id, node_id) do update set state = 'ended', outcome = 'lost',
                    message = excluded.message,
                       reported_at = excluded.reported_at, silent_since = excluded.silent_since where r.state <> 'ended'
                """, nodes, fence.stamp());
    }
}
