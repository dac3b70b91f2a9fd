package io.quartermaster.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.quartermaster.testing.WithoutLeader;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** The racks and zones of the tables reach the engine. */
@QuarkusTest
@TestProfile(WithoutLeader.class)
class TopologyIT extends LedByHand {

    @Test
    void aGangThatMustBeInOneRackIsAndTheNextWaitsForARack() {
        CellRows rows = new CellRows(database, "topology");
        UUID pool = rows.pool("topology");
        rows.run("update pool set topology_levels = '{rack}' where id = $1", pool);
        for (String node : List.of("a1", "a2", "b1", "b2", "c1")) {
            UUID id = rows.node(pool, "topology-" + node, 1, Duration.ofMinutes(30));
            rows.run("update node set topology = array[$2::text] where id = $1", id, "rack-" + node.charAt(0));
        }
        rows.allotment(pool, 5, 5);
        UUID policy = rows.policy("/all", pool, 5, 5);
        UUID single = rows.profile(1, pool);
        UUID gang = rows.profile(1, 2, 2, pool);
        rows.run("update profile set required_level = 'rack' where id = $1", gang);
        cell.settle();
        UUID queue = rows.queue(policy, gang);

        // If it were preemptible, it would move to the third rack to make room in its own.
        rows.submit(rows.queue(policy, single), policy, single, false);
        cell.settle();
        UUID first = rows.submit(queue, policy, gang);
        cell.settle();
        UUID second = rows.submit(queue, policy, gang);
        cell.settle();

        assertThat(racks(rows, first)).hasSize(1);
        assertThat(rows.state(second)).isEqualTo("waiting");
        assertThat(rows.reason(second)).isEqualTo("FRAGMENTED");
    }

    @Test
    void whatGrowsGainsAWholeSliceInOneRack() {
        CellRows rows = new CellRows(database, "slices");
        UUID pool = rows.pool("slices");
        rows.run("update pool set topology_levels = '{rack}' where id = $1", pool);
        for (String node : List.of("a1", "a2", "b1", "b2", "c1")) {
            UUID id = rows.node(pool, "slices-" + node, 1, Duration.ofMinutes(30));
            rows.run("update node set topology = array[$2::text] where id = $1", id, "rack-" + node.charAt(0));
        }
        rows.allotment(pool, 6, 6);
        UUID policy = rows.policy("/all", pool, 6, 6);
        UUID gang = rows.profile(1, 6, 2, pool);
        rows.run("update profile set slice_workers = 2, slice_level = 'rack' where id = $1", gang);
        cell.settle();
        UUID job = rows.submit(rows.queue(policy, gang), policy, gang);
        cell.settle();

        assertThat(workersByRack(rows, job)).containsExactly("{0,1}", "{2,3}");
    }

    private static List<String> workersByRack(CellRows rows, UUID workload) {
        return rows
                .run(
                        "select array_agg(d.worker order by d.worker)::text as workers from allocation_device d"
                                + " join attempt a on a.id = d.attempt_id join node n on n.id = d.node_id"
                                + " where a.workload_id = $1 group by n.topology[1] order by min(d.worker)",
                        workload)
                .stream()
                .map(row -> row.getString("workers"))
                .toList();
    }

    private static List<String> racks(CellRows rows, UUID workload) {
        return rows
                .run(
                        "select distinct n.topology[1] as rack from allocation_device d join attempt a on a.id = "
                                + "d.attempt_id"
                                + " join node n on n.id = d.node_id where a.workload_id = $1",
                        workload)
                .stream()
                .map(row -> row.getString("rack"))
                .toList();
    }
}
