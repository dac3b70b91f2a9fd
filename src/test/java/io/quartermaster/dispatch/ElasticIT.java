package io.quartermaster.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.quartermaster.testing.WithoutLeader;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Elastic workloads and the leader: each surplus worker starts, ends and is metered by itself. */
@QuarkusTest
@TestProfile(WithoutLeader.class)
class ElasticIT extends LedByHand {

    @Test
    void anElasticWorkloadGrowsShrinksAndIsMeteredWorkerByWorker() {
        CellRows rows = new CellRows(database, "elastic-elastic");
        UUID pool = rows.poolOf(4);
        UUID wide = rows.policy("/wide", pool, 1, 4);
        UUID other = rows.policy("/other", pool, 3, 4);
        UUID elastic = rows.profile(1, 4, 1, pool);
        UUID two = rows.profile(2, pool);
        UUID job = rows.submit(rows.queue(wide, elastic), wide, elastic);
        cell.settle();
        run(rows, job);
        assertThat(rows.state(job)).isEqualTo("running");
        assertThat(liveWorkers(rows, job)).containsExactly(null, 1, 2, 3);
        assertThat(rows.usage("allocated")).containsExactly(1_000L, 1_000L, 1_000L, 1_000L);

        UUID claimant = rows.submit(rows.queue(other, two), other, two);
        cell.settle();
        assertThat(rows.state(job)).isEqualTo("running");
        assertThat(rows.reason(claimant)).isEqualTo("NOMINATED");
        assertThat(stoppingWorkers(rows, job)).containsExactly(2, 3);
        assertThat(rows.run("select cause from preemption where workload_id = $1", job))
                .extracting(row -> row.getString("cause"))
                .containsExactly("reclaim", "reclaim");

        // A rebuilt engine must derive the same state.
        cell.rebuild();
        cell.settle();
        for (int worker : List.of(2, 3)) {
            rows.reportAttempt(rows.surplus(job, worker), job, "ended", "preempted");
        }
        cell.settle();
        assertThat(rows.state(claimant)).isEqualTo("starting");
        assertThat(rows.state(job)).isEqualTo("running");
        assertThat(liveWorkers(rows, job)).containsExactly(null, 1);
        assertThat(rows.usage("freed")).hasSize(2);

        rows.report(claimant, "ended", "succeeded");
        cell.settle();
        assertThat(liveWorkers(rows, job)).containsExactly(null, 1, 2, 3);

        // A worker that ended by itself does not start again.
        rows.reportAttempt(rows.surplus(job, 1), job, "ended", "succeeded");
        cell.settle();
        assertThat(liveWorkers(rows, job)).containsExactly(null, 2, 3);
    }

    @Test
    void anElasticWorkloadIsOverWhenItsSurplusWorkersHaveStoppedToo() {
        CellRows rows = new CellRows(database, "elastic-surplus");
        UUID pool = rows.poolOf(3);
        UUID job = rows.job(pool, 3, rows.profile(1, 3, 1, pool));
        cell.settle();
        run(rows, job);

        UUID core = rows.run("select id from attempt where workload_id = $1 and worker is null", job)
                .getFirst()
                .getUUID("id");
        rows.reportAttempt(core, job, "ended", "succeeded");
        cell.settle();
        assertThat(rows.state(job)).isEqualTo("stopping");
        assertThat(stoppingWorkers(rows, job)).containsExactly(1, 2);

        rows.reportAttempt(rows.surplus(job, 1), job, "ended", "cancelled");
        cell.settle();
        assertThat(rows.state(job)).isEqualTo("stopping");
        rows.reportAttempt(rows.surplus(job, 2), job, "ended", "cancelled");
        cell.settle();
        assertThat(rows.state(job)).isEqualTo("succeeded");
        assertThat(rows.held()).isZero();
        assertThat(rows.usage("freed")).hasSize(3);
    }

    @Test
    void aWorkloadThatLosesASurplusWorkerGoesOnAndGrowsElsewhere() {
        CellRows rows = new CellRows(database, "elastic-lost");
        UUID pool = rows.pool("elastic-lost");
        rows.node(pool, "elastic-lost-1", 1, LONG);
        rows.node(pool, "elastic-lost-2", 1, LONG);
        rows.allotment(pool, 3, 3);
        UUID job = rows.job(pool, 3, rows.profile(1, 2, 1, pool));
        cell.settle();
        UUID on = rows.run(
                        "select node_id from allocation_device d join attempt a on a.id = d.attempt_id where "
                                + "a.workload_id = $1 and a.worker = 1",
                        job)
                .getFirst()
                .getUUID("node_id");
        rows.contact(on, OVER);
        rows.node(pool, "elastic-lost-3", 1, LONG);
        cell.settle();

        assertThat(rows.state(job)).isEqualTo("starting");
        assertThat(liveWorkers(rows, job)).containsExactly(null, 1);
        assertThat(rows.run("select outcome from attempt where workload_id = $1 and state = 'ended'", job))
                .extracting(row -> row.getString("outcome"))
                .containsExactly("lost");
    }

    @Test
    void whoTakesFewerGpusHoldsThemAndAsksForAllAgainOnceStopped() {
        CellRows rows = new CellRows(database, "elastic-fewer");
        UUID pool = rows.poolOf(4);
        UUID policy = rows.policy("/all", pool, 4, 4);
        UUID one = rows.profile(1, pool);
        UUID queue = rows.queue(policy, one);
        UUID first = rows.submit(queue, policy, one);
        cell.settle();
        rows.run("update profile set max_gpus = 4 where id = $1", one);
        UUID job = rows.submit(queue, policy, one);
        rows.run("update workload set gpus = 4, min_gpus = 2 where id = $1", job);
        cell.settle();
        assertThat(held(rows, job)).isEqualTo(3_000);
        run(rows, job);

        // It does not grow, and a rebuilt engine knows the amount that it holds.
        rows.report(first, "ended", "succeeded");
        cell.settle();
        cell.rebuild();
        cell.settle();
        assertThat(held(rows, job)).isEqualTo(3_000);
        UUID beside = rows.submit(queue, policy, one);
        cell.settle();
        assertThat(rows.state(beside)).isEqualTo("starting");
        rows.report(beside, "ended", "succeeded");
        cell.settle();

        rows.wish(job, "hold");
        cell.settle();
        rows.report(job, "ended", "preempted");
        cell.settle();
        rows.wish(job, "run");
        cell.settle();
        assertThat(held(rows, job)).isEqualTo(4_000);
        assertThat(rows.usage("allocated")).containsExactly(1_000L, 3_000L, 1_000L, 4_000L);
    }

    private static long held(CellRows rows, UUID workload) {
        return rows.run("select gpu_milli from attempt where workload_id = $1 and state <> 'ended'", workload)
                .getFirst()
                .getLong("gpu_milli");
    }

    private static List<Integer> liveWorkers(CellRows rows, UUID workload) {
        return workers(rows, workload, "state <> 'ended'");
    }

    private static List<Integer> stoppingWorkers(CellRows rows, UUID workload) {
        return workers(rows, workload, "state = 'stopping' and worker is not null");
    }

    private static List<Integer> workers(CellRows rows, UUID workload, String which) {
        List<Integer> workers = new ArrayList<>();
        rows.run(
                        "select worker from attempt where workload_id = $1 and " + which
                                + " order by worker nulls first",
                        workload)
                .forEach(row -> workers.add(row.getInteger("worker")));
        return workers;
    }
}
