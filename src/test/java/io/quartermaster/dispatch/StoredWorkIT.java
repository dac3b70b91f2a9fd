package io.quartermaster.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.quartermaster.dispatch.read.DispatchConfig;
import io.quartermaster.dispatch.read.LeaderSettings;
import io.quartermaster.testing.WithoutLeader;
import io.vertx.core.json.JsonObject;
import io.vertx.mutiny.sqlclient.Row;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Workloads that another version of the service stored with words that this version does not know. */
@QuarkusTest
@TestProfile(WithoutLeader.class)
class StoredWorkIT extends LedByHand {

    @Inject
    DispatchConfig config;

    /** Unreadable rows must not reach the next test's leader, even after a failure. */
    @AfterEach
    void nothingIsLeftThatCannotBeRead() {
        database.run(
                Duration.ofSeconds(10),
                tx -> tx.run("update policy set group_path = '/all' where length(group_path) > 500"));
    }

    @Test
    void sharesByMemoryAndMigInstancesAreHeldMeteredAndKnownAgain() {
        CellRows rows = new CellRows(database, "stored-shapes");
        UUID pool = rows.pool("stored-shapes");
        rows.node(pool, "stored-shapes-1", 1, LONG);
        UUID cut = rows.node(pool, "stored-shapes-2", 1, LONG);
        rows.run("update gpu set mig = true where node_id = $1", cut);
        rows.inbox("node", cut.toString());
        rows.allotment(pool, 2, 2);
        UUID policy = rows.policy("/all", pool, 2, 2);
        UUID quarter = rows.profile(0, pool);
        rows.run("update profile set name = 'memory', gpu_memory_mib = 20480 where id = $1", quarter);
        UUID instance = rows.profile(0, pool);
        rows.run("update profile set name = 'mig', gpu_milli = 428, mig = '3g.40gb' where id = $1", instance);
        UUID memory = rows.submit(rows.queue(policy, quarter), policy, quarter);
        UUID instances = rows.queue(policy, instance);
        UUID one = rows.submit(instances, policy, instance);
        cell.settle();
        UUID two = rows.submit(instances, policy, instance);
        cell.settle();

        assertThat(held(rows, memory)).containsExactly("250");
        assertThat(List.of(held(rows, one), held(rows, two)))
                .containsExactlyInAnyOrder(List.of("428 3g.40gb at 0"), List.of("428 3g.40gb at 4"));
        assertThat(rows.usage("allocated")).containsExactlyInAnyOrder(250L, 428L, 428L);

        // A rebuilt engine knows the place of the instances: there is no room for a third one.
        cell.rebuild();
        UUID third = rows.submit(instances, policy, instance);
        cell.settle();
        assertThat(rows.state(third)).isEqualTo("waiting");
        rows.report(one, "ended", "succeeded");
        cell.settle();
        assertThat(rows.state(third)).isEqualTo("starting");
        assertThat(rows.run(
                                "select waiting_gpu_milli($1, 30000, 2) as one, waiting_gpu_milli($1, 90000, 1) as none",
                                pool)
                        .getFirst()
                        .toJson())
                .isEqualTo(new JsonObject().put("one", 734).put("none", 1000));
    }

    private static List<String> held(CellRows rows, UUID workload) {
        return rows
                .run(
                        "select d.gpu_milli || coalesce(' ' || d.mig || ' at ' || d.mig_first, '') as part from "
                                + "allocation_device d"
                                + " join attempt a on a.id = d.attempt_id where a.workload_id = $1",
                        workload)
                .stream()
                .map(row -> row.getString("part"))
                .toList();
    }

    @Test
    void runningWorkThatCannotBeReadKeepsItsDevicesWhileTheCellGoesOn() {
        CellRows rows = new CellRows(database, "stored-runs");
        UUID pool = rows.pool("stored-runs");
        UUID node = rows.node(pool, "stored-runs-1", 2, LONG);
        rows.allotment(pool, 2, 2);
        OneGroup group = OneGroup.of(rows, pool, 2, 1);
        UUID first = group.submit();
        cell.settle();
        UUID odd = group.submit();
        cell.settle();
        group.submit();
        group.submit();
        cell.settle();
        int device = device(rows, odd);
        rows.run("update attempt set state = 'stopping', stop_reason = 'of-tomorrow' where workload_id = $1", odd);

        cell.rebuild();
        assertThatThrownBy(() -> cell.cycle()).hasMessageContaining("of-tomorrow");
        assertThat(examination().run(cell.epoch())).isEqualTo(1);
        assertThat(rows.run("select id from workload where set_aside_at is not null and tenant_id = $1", rows.tenant))
                .extracting(row -> row.getUUID("id"))
                .containsExactly(odd);

        cell.rebuild();
        cell.settle();
        rows.report(first, "ended", "succeeded");
        cell.settle();
        assertThat(rows.state(first)).isEqualTo("succeeded");
        List<Row> holders = rows.run(
                "select a.workload_id, d.device_index from attempt a join allocation_device d on d.attempt_id = a.id"
                        + " where a.tenant_id = $1 and d.freed_at is null and d.node_id = $2",
                rows.tenant,
                node);
        assertThat(holders).hasSize(2);
        assertThat(holders)
                .filteredOn(row -> row.getInteger("device_index") == device)
                .extracting(row -> row.getUUID("workload_id"))
                .containsExactly(odd);

        // A leader that knows the word readmits it.
        rows.run("update attempt set stop_reason = 'cancelled' where workload_id = $1", odd);
        takeBack();
        assertThat(told(rows, odd)).endsWith("starting SET_ASIDE", "starting");
        rows.report(odd, "ended", "cancelled");
        cell.rebuild();
        cell.settle();
        assertThat(rows.state(odd)).isEqualTo("cancelled");
    }

    @Test
    void waitingWorkThatCannotBeReadIsFoundAmongManySaysSoAndCanBeCancelled() {
        CellRows rows = new CellRows(database, "stored-waits");
        OneGroup group = OneGroup.of(rows, 1, 1);
        UUID running = group.submit();
        for (int i = 0; i < 5; i++) {
            group.submit();
        }
        UUID odd = group.submit();
        UUID last = group.submit();
        UUID alsoOdd = group.submit();
        cell.settle();
        for (UUID one : List.of(odd, alsoOdd)) {
            rows.run(
                    "insert into nomination (tenant_id, workload_id, pool_id, body, nominated_at)"
                            + " values ($1, $2, $3, '{\"format\": 2, \"places\": []}', clock_timestamp())",
                    rows.tenant,
                    one,
                    group.pool());
        }

        cell.rebuild();
        assertThatThrownBy(() -> cell.cycle()).isInstanceOf(RuntimeException.class);
        assertThat(examination().run(cell.epoch())).isEqualTo(2);
        cell.rebuild();
        cell.settle();

        assertThat(rows.reason(odd)).isEqualTo("SET_ASIDE");
        assertThat(rows.reason(alsoOdd)).isEqualTo("SET_ASIDE");
        assertThat(rows.reason(last)).isNotEqualTo("SET_ASIDE");
        assertThat(rows.state(running)).isEqualTo("starting");
        for (UUID one : List.of(odd, alsoOdd)) {
            rows.wish(one, "cancel");
        }
        cell.settle();
        assertThat(rows.state(odd)).isEqualTo("cancelled");
        assertThat(rows.state(alsoOdd)).isEqualTo("cancelled");
        assertThat(told(rows, odd)).endsWith("waiting SET_ASIDE", "cancelled");
    }

    @Test
    void whatIsGrantedAndCannotBeReadStopsItsTenantAndNotTheCell() {
        CellRows odd = new CellRows(database, "stored-odd");
        UUID pool = odd.pool("stored-shared");
        UUID node = odd.node(pool, "stored-shared-1", 2, LONG);
        odd.allotment(pool, 1, 1);
        OneGroup ofOdd = OneGroup.of(odd, pool, 1, 1);
        UUID held = ofOdd.submit();
        cell.settle();
        CellRows other = new CellRows(database, "stored-other");
        other.allotment(pool, 1, 2);
        OneGroup ofOther = OneGroup.of(other, pool, 1, 1);
        UUID first = ofOther.submit();
        cell.settle();
        UUID second = ofOther.submit();
        cell.settle();
        assertThat(List.of(odd.state(held), other.state(first), other.state(second)))
                .containsExactly("starting", "starting", "waiting");
        odd.run("update policy set group_path = '/' || repeat('x', 600) where tenant_id = $1", odd.tenant);

        cell.rebuild();
        assertThatThrownBy(() -> cell.cycle()).hasMessageContaining("is not the path of a group");
        assertThat(examination().run(cell.epoch())).isEqualTo(1);
        assertThat(odd.run("select id from tenant where set_aside_at is not null"))
                .extracting(row -> row.getString("id"))
                .containsExactly(odd.tenant);
        assertThat(odd.run(
                        "select id from workload where set_aside_at is not null and tenant_id in ($1, $2)",
                        odd.tenant,
                        other.tenant))
                .isEmpty();

        // The other workloads continue, beside the capacity that the tenant holds. The tenant's submissions wait, and
        // can be cancelled.
        cell.rebuild();
        UUID late = ofOdd.submit();
        cell.settle();
        assertThat(odd.state(late)).isEqualTo("waiting");
        odd.wish(late, "cancel");
        other.report(first, "ended", "succeeded");
        cell.settle();
        assertThat(List.of(odd.state(late), odd.state(held), other.state(second)))
                .containsExactly("cancelled", "starting", "starting");
        assertThat(device(odd, held)).isNotEqualTo(device(other, second));
        assertThat(odd.run("select node_id from allocation_device where node_id = $1 and freed_at is null", node))
                .hasSize(2);

        // A leader that begins when the tenant is readable again readmits it.
        odd.run("update policy set group_path = '/all' where tenant_id = $1", odd.tenant);
        takeBack();
        odd.report(held, "ended", "succeeded");
        cell.rebuild();
        cell.settle();
        assertThat(odd.state(held)).isEqualTo("succeeded");
    }

    @Test
    void allWorkOfAProfileThatCannotBeReadIsSetAsideTogether() {
        CellRows rows = new CellRows(database, "stored-profile");
        OneGroup group = OneGroup.of(rows, 1, 1);
        UUID running = group.submit();
        cell.settle();
        UUID odd = rows.profile(1, 2, 2, group.pool());
        UUID queue = rows.queue(group.policy(), odd);
        for (int i = 0; i < 12; i++) {
            rows.submit(queue, group.policy(), odd);
        }
        cell.settle();
        rows.run("update profile set node_labels = '[]' where id = $1", odd);

        cell.rebuild();
        assertThatThrownBy(() -> cell.cycle()).isInstanceOf(RuntimeException.class);
        assertThat(examination().run(cell.epoch())).isEqualTo(12);
        cell.rebuild();
        rows.report(running, "ended", "succeeded");
        cell.settle();
        assertThat(rows.state(running)).isEqualTo("succeeded");

        rows.run("update profile set node_labels = '{}' where id = $1", odd);
        takeBack();
        assertThat(rows.run("select id from workload where set_aside_at is not null and tenant_id = $1", rows.tenant))
                .isEmpty();
    }

    @Test
    void nothingIsSetAsideWhereTheCauseIsNoWorkload() {
        CellRows rows = new CellRows(database, "stored-pool");
        UUID pool = rows.pool("stored-pool");
        rows.node(pool, "stored-pool-1", 1, LONG);
        rows.allotment(pool, 1, 1);
        UUID policy = rows.policy("/all", pool, 1, 1);
        UUID profile = rows.profile(1, pool);
        rows.submit(rows.queue(policy, profile), policy, profile);
        cell.settle();
        assertThat(examination().run(cell.epoch()))
                .as("nothing needs to be quarantined")
                .isZero();

        rows.run("update node set labels = '[]' where name = 'stored-pool-1'");
        cell.rebuild();
        try {
            assertThatThrownBy(() -> cell.cycle()).isInstanceOf(RuntimeException.class);
            assertThat(examination().run(cell.epoch())).isZero();
        } finally {
            rows.run("update node set labels = '{}' where name = 'stored-pool-1'");
        }
    }

    private PoisonWorkloadFinder examination() {
        return new PoisonWorkloadFinder(database, LeaderSettings.of(config));
    }

    /** Readmits all entries, as another leader does. */
    private void takeBack() {
        LeaderTerm term = new LeaderTerm(database, LeaderSettings.of(config));
        term.begin(cell.epoch());
        term.runCycle();
        term.runCycle();
        cell.rebuild();
    }

    /** The events of a workload in live views, as state and reason. */
    private static List<String> told(CellRows rows, UUID workload) {
        return rows
                .run(
                        "select body ->> 'state' as state, coalesce(body ->> 'reason', '') as reason from feed"
                                + " where tenant_id = $1 and ref = $2 order by seq",
                        rows.tenant,
                        workload.toString())
                .stream()
                .map(row -> (row.getString("state") + " " + row.getString("reason")).strip())
                .toList();
    }

    private static int device(CellRows rows, UUID workload) {
        return rows.run(
                        "select d.device_index from attempt a join allocation_device d on d.attempt_id = a.id "
                                + "where a.workload_id = $1",
                        workload)
                .getFirst()
                .getInteger("device_index");
    }
}
