package io.quartermaster.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.quartermaster.platform.TenantId;
import io.quartermaster.testing.WithoutLeader;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** The reasons that keep workloads waiting, and their notifications. */
@QuarkusTest
@TestProfile(WithoutLeader.class)
class WaitsIT extends LedByHand {

    @Test
    void nothingOfATenantThatIsNotActiveStarts() {
        CellRows rows = new CellRows(database, "races-tenant");
        OneGroup group = OneGroup.of(rows, 1, 1);
        for (String state : List.of("suspended", "provisioning", "offboarding", "failed")) {
            rows.run("update tenant set state = $2 where id = $1", rows.tenant, state);
            rows.inbox("tenant", rows.tenant);
            UUID job = group.submit();
            cell.settle();
            assertThat(rows.state(job)).as(state).isEqualTo("waiting");
            assertThat(rows.reason(job)).as(state).isEqualTo("SUSPENDED");
            rows.wish(job, "cancel");
            cell.settle();
        }

        rows.run("update tenant set state = 'active' where id = $1", rows.tenant);
        rows.inbox("tenant", rows.tenant);
        UUID again = group.submit();
        cell.settle();
        assertThat(rows.state(again)).isEqualTo("starting");
    }

    @Test
    void liveViewsAreToldWhyWorkWaitsWheneverThatChanges() {
        CellRows rows = new CellRows(database, "races-why");
        UUID pool = rows.poolOf(2);
        UUID policy = rows.policy("/all", pool, 1, 1);
        UUID profile = rows.profile(1, pool);
        UUID queue = rows.queue(policy, profile);
        rows.submit(queue, policy, profile);
        UUID second = rows.submit(queue, policy, profile);
        CellPlanner.Outcome outcome = cell.cycle();
        cell.settle();
        assertThat(outcome.fedTenants()).contains(new TenantId(rows.tenant));
        assertThat(toldWhy(rows, second)).containsExactly("waiting LIMIT");

        // A rebuilt engine repeats every reason; live views receive nothing new.
        cell.rebuild();
        cell.settle();
        assertThat(toldWhy(rows, second)).containsExactly("waiting LIMIT");

        rows.run("update tenant set state = 'suspended' where id = $1", rows.tenant);
        rows.inbox("tenant", rows.tenant);
        cell.settle();
        assertThat(toldWhy(rows, second)).containsExactly("waiting LIMIT", "waiting SUSPENDED");
    }

    @Test
    void whatWaitsInAHeldQueueIsNotStartedAndSaysSoUntilTheQueueIsOpenAgain() {
        CellRows rows = new CellRows(database, "races-hold");
        OneGroup group = OneGroup.of(rows, 2, 1);
        UUID runs = group.submit();
        cell.settle();
        state(rows, group.queue(), "held");
        UUID first = group.submit();
        UUID second = group.submit();
        cell.settle();
        assertThat(List.of(rows.state(runs), rows.state(first), rows.state(second)))
                .containsExactly("starting", "waiting", "waiting");
        assertThat(rows.reason(first)).isEqualTo("QUEUE_HELD");
        assertThat(toldWhy(rows, first)).containsExactly("waiting QUEUE_HELD");
        // In the meantime an admin puts the second workload first.
        rows.run("update workload set place = 1 where id = $1", second);
        rows.inbox("workload", second.toString());

        // A rebuilt engine knows it from the tables.
        cell.rebuild();
        cell.settle();
        assertThat(rows.state(first)).isEqualTo("waiting");

        state(rows, group.queue(), "open");
        cell.settle();
        assertThat(List.of(rows.state(first), rows.state(second))).containsExactly("waiting", "starting");
        assertThat(rows.reason(first)).isEqualTo("LIMIT");
        assertThat(rows.run("select 1 from workload where id = $1 and place is not null", second))
                .as("a started workload has no place in the order any more")
                .isEmpty();
    }

    @Test
    void nobodyOfAStrictQueuePassesTheFirst() {
        CellRows rows = new CellRows(database, "races-strict");
        UUID pool = rows.poolOf(2);
        UUID policy = rows.policy("/all", pool, 1, 2);
        UUID profile = rows.profile(1, pool);
        UUID queue = rows.queue(policy, profile);
        order(rows, queue, "strict-fifo");
        UUID runs = rows.submit(queue, policy, profile, false);
        UUID first = rows.submit(queue, policy, profile, false);
        UUID second = rows.submit(queue, policy, profile, true);
        cell.settle();
        assertThat(rows.state(runs)).isEqualTo("starting");
        assertThat(List.of(rows.reason(first), rows.reason(second))).containsExactly("NOT_PREEMPTIBLE", "BEHIND");
        cell.rebuild();
        cell.settle();
        assertThat(rows.state(second)).isEqualTo("waiting");

        order(rows, queue, "skip-ahead");
        cell.settle();
        assertThat(List.of(rows.state(first), rows.state(second))).containsExactly("waiting", "starting");
    }

    @Test
    void aNodeThatDoesNotKeepTenantsApartStartsWorkOfTheFirstTenantOnly() {
        CellRows first = new CellRows(database, "races-trust-z");
        CellRows second = new CellRows(database, "races-trust-a");
        UUID pool = first.poolOf(2);
        second.allotment(pool, 0, 2);
        first.run(
                "update node_contact set isolation = 'os-user' where node_id in (select id from node where "
                        + "pool_id = $1)",
                pool);
        UUID ofSecond = second.job(pool, 1, second.profile(1, pool));
        UUID ofFirst = first.job(pool, 1, first.profile(1, pool));
        cell.settle();
        assertThat(first.state(ofFirst)).isEqualTo("starting");
        assertThat(second.state(ofSecond)).isEqualTo("waiting");
        assertThat(second.reason(ofSecond)).isEqualTo("NODES_CLOSED");
        cell.rebuild();
        cell.settle();
        assertThat(second.state(ofSecond)).isEqualTo("waiting");

        first.run("update pool set tenants_trust_each_other = true where id = $1", pool);
        first.inbox("pool", pool.toString());
        cell.settle();
        assertThat(second.state(ofSecond)).isEqualTo("starting");
    }

    @Test
    void whenTheFirstTenantHasLeftAPoolItsNodesTakeWorkOfTheNext() {
        CellRows first = new CellRows(database, "races-left-z");
        CellRows second = new CellRows(database, "races-left-a");
        UUID pool = first.poolOf(1);
        second.allotment(pool, 0, 1);
        first.run(
                "update node_contact set isolation = 'none' where node_id in (select id from node where pool_id = $1)",
                pool);
        UUID ofSecond = second.job(pool, 1, second.profile(1, pool));
        cell.settle();
        assertThat(second.state(ofSecond)).isEqualTo("waiting");

        first.run("delete from allotment where tenant_id = $1", first.tenant);
        first.inbox("allotment", pool.toString());
        cell.settle();

        assertThat(second.state(ofSecond)).isEqualTo("starting");
    }

    private static void order(CellRows rows, UUID queue, String order) {
        rows.run("update queue set start_order = $2, version = version + 1 where id = $1", queue, order);
        rows.inbox("queue", queue.toString());
    }

    private static void state(CellRows rows, UUID queue, String state) {
        rows.run("update queue set state = $2, version = version + 1 where id = $1", queue, state);
        rows.inbox("queue", queue.toString());
    }

    private static List<String> toldWhy(CellRows rows, UUID workload) {
        return rows
                .run(
                        "select body ->> 'state' as state, body ->> 'reason' as reason from feed where tenant_id "
                                + "= $1 and ref = $2"
                                + " and body ? 'reason' order by seq",
                        rows.tenant,
                        workload.toString())
                .stream()
                .map(row -> row.getString("state") + " " + row.getString("reason"))
                .toList();
    }

    @Test
    void oneMemberHoldsNoMoreThanThePolicyAllowsAUser() {
        CellRows rows = new CellRows(database, "races-user");
        OneGroup group = OneGroup.of(rows, 4, 1);
        rows.run("update policy set user_limit_milli = 1000 where id = $1", group.policy());
        UUID first = group.submit();
        UUID second = group.submit();
        UUID others = group.submit();
        // A renamed person is still the same submitter; another person under a former name is not.
        rows.run("update workload set submitter = 'one', submitted_by = 'before' where id = $1", first);
        rows.run("update workload set submitter = 'one', submitted_by = 'after' where id = $1", second);
        rows.run("update workload set submitter = 'another', submitted_by = 'before' where id = $1", others);
        cell.settle();
        assertThat(rows.state(first)).isEqualTo("starting");
        assertThat(rows.state(others)).isEqualTo("starting");
        assertThat(rows.state(second)).isEqualTo("waiting");
        assertThat(rows.reason(second)).isEqualTo("LIMIT");

        rows.run("update policy set user_limit_milli = null where id = $1", group.policy());
        rows.inbox("policy", group.policy().toString());
        cell.settle();
        assertThat(rows.state(second)).isEqualTo("starting");
    }

    @Test
    void noMoreWorkloadsRunAtOnceThanThePolicyAllows() {
        CellRows rows = new CellRows(database, "races-count");
        UUID pool = rows.poolOf(4);
        UUID policy = rows.policy("/all", pool, 4, 4);
        UUID profile = rows.profile(1, pool);
        rows.run("update policy set max_running = 2 where id = $1", policy);
        rows.inbox("policy", policy.toString());
        UUID queue = rows.queue(policy, profile);
        UUID first = rows.submit(queue, policy, profile);
        UUID second = rows.submit(queue, policy, profile);
        UUID third = rows.submit(queue, policy, profile);
        cell.settle();
        assertThat(List.of(rows.state(first), rows.state(second), rows.state(third)))
                .containsExactly("starting", "starting", "waiting");
        assertThat(rows.run("select reason->0 as reason from workload where id = $1", third))
                .singleElement()
                .satisfies(row -> assertThat(row.getJsonObject("reason").encode())
                        .contains("LIMIT", "2 workloads of group /all run, and at most 2 may run concurrently."));

        rows.report(first, "ended", "succeeded");
        cell.settle();
        assertThat(rows.state(third)).isEqualTo("starting");

        UUID fourth = rows.submit(queue, policy, profile);
        cell.settle();
        assertThat(rows.reason(fourth)).isEqualTo("LIMIT");
        rows.run("update policy set max_running = null where id = $1", policy);
        rows.inbox("policy", policy.toString());
        cell.settle();
        assertThat(rows.state(fourth)).isEqualTo("starting");
    }
}
