package io.quartermaster.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.quartermaster.testing.WithoutLeader;
import io.vertx.mutiny.sqlclient.Row;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Paused workloads, and when another attempt of theirs may start. */
@QuarkusTest
@TestProfile(WithoutLeader.class)
class PausedWorkIT extends LedByHand {

    /** A borrower that was preempted on the only node with GPUs, and the owner that reclaimed its share. */
    private record Scene(CellRows rows, UUID pool, UUID node, UUID victim, UUID claimant, UUID attempt) {

        Row workload() {
            return rows.run("select * from workload where id = $1", victim).getFirst();
        }

        @Nullable
        UUID left() {
            return workload().getUUID("paused_attempt");
        }

        Row attempt(int number) {
            return rows.run("select * from attempt where workload_id = $1 and number = $2", victim, number)
                    .getFirst();
        }

        UUID nodeOf(int number) {
            return rows.run(
                            "select distinct node_id from allocation_device where attempt_id = $1",
                            attempt(number).getUUID("id"))
                    .getFirst()
                    .getUUID("node_id");
        }

        void processes(String state) {
            rows.reportAttempt(attempt, victim, state, state.equals("ended") ? "lost" : "");
        }

        UUID anotherNode() {
            return rows.node(pool, rows.tenant + "-2", 2, LONG);
        }
    }

    private Scene stopping(String tenant, boolean nodeCanPause) {
        CellRows rows = new CellRows(database, tenant);
        UUID pool = rows.pool(tenant);
        UUID node = rows.node(pool, tenant + "-1", 2, LONG);
        if (nodeCanPause) {
            rows.run("update node_contact set pausing = 'signals' where node_id = $1", node);
        }
        rows.allotment(pool, 4, 4);
        UUID borrower = rows.policy("/borrower", pool, 0, 4);
        rows.run("update policy set on_preemption = 'pause' where tenant_id = $1 and id = $2", tenant, borrower);
        UUID owner = rows.policy("/owner", pool, 2, 4);
        UUID profile = rows.profile(2, pool);
        UUID victim = rows.submit(rows.queue(borrower, profile), borrower, profile);
        cell.settle();
        run(rows, victim);
        // It is not preemptible, so it is not moved for the paused workload either.
        UUID claimant = rows.submit(rows.queue(owner, profile), owner, profile, false);
        cell.settle();
        assertThat(rows.state(victim)).isEqualTo("stopping");
        UUID attempt = rows.run("select id from attempt where workload_id = $1", victim)
                .getFirst()
                .getUUID("id");
        return new Scene(rows, pool, node, victim, claimant, attempt);
    }

    private Scene paused(String tenant) {
        Scene scene = stopping(tenant, true);
        scene.processes("paused");
        cell.settle();
        assertThat(scene.rows().state(scene.victim())).isEqualTo("paused");
        run(scene.rows(), scene.claimant());
        return scene;
    }

    @Test
    void onlyANodeThatCanIsAskedToPause() {
        assertThat(stopping("paused-can", true).attempt(1).getString("stop_reason"))
                .isEqualTo("paused");
        assertThat(stopping("paused-cannot", false).attempt(1).getString("stop_reason"))
                .isEqualTo("preempted");
    }

    @Test
    void itsDevicesAreFreeAtOnceAndItGoesOnOnItsOwnNodeAsItsNextAttempt() {
        Scene scene = paused("paused-on");
        CellRows rows = scene.rows();
        assertThat(scene.attempt(1).getString("outcome")).isEqualTo("paused");
        assertThat(rows.state(scene.claimant())).isEqualTo("running");
        assertThat(rows.run(
                        "select body ->> 'state' as state from feed where tenant_id = $1 and ref = $2 order by seq",
                        rows.tenant,
                        scene.victim().toString()))
                .extracting(row -> row.getString("state"))
                .containsSubsequence("running", "stopping", "paused");
        assertThat(rows.run(
                        "select at_ms from usage_event where allocation_id = $1 and kind = 'freed'", scene.attempt()))
                .extracting(row -> row.getLong("at_ms"))
                .containsExactly(scene.attempt(1)
                        .getOffsetDateTime("ended_at")
                        .toInstant()
                        .toEpochMilli());

        scene.anotherNode();
        cell.settle();
        assertThat(rows.state(scene.victim())).isEqualTo("paused");
        assertThat(rows.reason(scene.victim())).isEqualTo("NO_CAPACITY");
        cell.rebuild();
        cell.settle();
        assertThat(rows.state(scene.victim())).isEqualTo("paused");

        rows.report(scene.claimant(), "ended", "succeeded");
        cell.settle();
        assertThat(rows.state(scene.victim())).isEqualTo("starting");
        assertThat(scene.attempt(2).getUUID("resumes")).isEqualTo(scene.attempt());
        assertThat(scene.nodeOf(2)).isEqualTo(scene.node());
        assertThat(scene.left()).isNull();
        assertThat(rows.usage("allocated")).containsExactly(2_000L, 2_000L, 2_000L);
    }

    @Test
    void givenUpItStartsElsewhereOnlyOnceItsProcessesAreOver() {
        Scene scene = paused("paused-late");
        UUID other = scene.anotherNode();
        scene.rows()
                .run(
                        "update workload set paused_until = clock_timestamp() - interval '1 second' where id = $1",
                        scene.victim());
        cell.rebuild();
        cell.settle();
        startsAnewOn(scene, other);
    }

    @Test
    void onADrainedNodeItIsGivenUp() {
        Scene scene = paused("paused-drained");
        UUID other = scene.anotherNode();
        scene.rows().run("update node set schedulable = false where id = $1", scene.node());
        scene.rows().inbox("node", scene.node().toString());
        cell.settle();
        startsAnewOn(scene, other);
    }

    private void startsAnewOn(Scene scene, UUID other) {
        CellRows rows = scene.rows();
        assertThat(rows.state(scene.victim())).isEqualTo("waiting");
        assertThat(rows.reason(scene.victim())).isEqualTo("RETRY");
        assertThat(scene.left()).isEqualTo(scene.attempt());
        scene.processes("stopping");
        cell.rebuild();
        cell.settle();
        assertThat(rows.state(scene.victim())).isEqualTo("waiting");

        scene.processes("ended");
        cell.settle();
        assertThat(rows.state(scene.victim())).isEqualTo("starting");
        assertThat(scene.attempt(2).getUUID("resumes")).isNull();
        assertThat(scene.nodeOf(2)).isEqualTo(other);
        assertThat(scene.left()).isNull();
    }

    @Test
    void ofASuspendedTenantNothingStaysPaused() {
        Scene scene = paused("paused-tenant");
        CellRows rows = scene.rows();
        rows.run("update tenant set state = 'suspended' where id = $1", rows.tenant);
        rows.inbox("tenant", rows.tenant);
        cell.settle();
        assertThat(rows.state(scene.victim())).isEqualTo("waiting");
        scene.processes("ended");
        cell.settle();
        assertThat(scene.left()).isNull();
        assertThat(rows.reason(scene.victim())).isEqualTo("SUSPENDED");
    }

    @Test
    void withItsNodesLeaseItsProcessesAreOver() {
        Scene scene = paused("paused-lost");
        UUID other = scene.anotherNode();
        cell.settle();
        scene.rows().contact(scene.node(), OVER);
        cell.settle();
        assertThat(scene.rows().state(scene.victim())).isEqualTo("starting");
        assertThat(scene.nodeOf(2)).isEqualTo(other);
        assertThat(scene.left()).isNull();
    }

    @Test
    void heldAndReleasedItStartsAnewOnceItsProcessesAreOver() {
        Scene scene = paused("paused-held");
        UUID other = scene.anotherNode();
        CellRows rows = scene.rows();
        rows.wish(scene.victim(), "hold");
        cell.settle();
        assertThat(rows.state(scene.victim())).isEqualTo("held");
        rows.wish(scene.victim(), "run");
        cell.settle();
        startsAnewOn(scene, other);
    }

    @Test
    void cancelledItIsOverAtOnceAndItsNodeIsTold() {
        Scene scene = paused("paused-cancelled");
        CellRows rows = scene.rows();
        long before = revision(scene);
        rows.wish(scene.victim(), "cancel");
        cell.settle();
        assertThat(rows.state(scene.victim())).isEqualTo("cancelled");
        assertThat(scene.left()).isNull();
        assertThat(revision(scene)).isGreaterThan(before);
    }

    private static long revision(Scene scene) {
        return scene.rows()
                .run("select revision from node where id = $1", scene.node())
                .getFirst()
                .getLong("revision");
    }
}
