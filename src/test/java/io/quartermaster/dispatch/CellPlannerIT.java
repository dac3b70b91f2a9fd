package io.quartermaster.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.platform.db.SystemDatabase;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/**
 * The control loop with the real tables: desired states and reports are its input, states, allocations and usage events
 * its output.
 */
@QuarkusTest
class CellPlannerIT {

    private static final Duration LONG = Duration.ofMinutes(5);

    @Inject
    SystemDatabase database;

    @Inject
    Dispatcher dispatcher;

    private void eventually(UUID workload, CellRows rows, String state) {
        dispatcher.wake();
        Awaitility.await()
                .atMost(Duration.ofSeconds(10))
                .pollInterval(Duration.ofMillis(50))
                .until(() -> rows.state(workload).equals(state));
    }

    @Test
    void aReservationIsHonouredByPreemptingTheLastStartedOfTheBorrower() {
        CellRows rows = new CellRows(database, "leader-a");
        UUID pool = rows.pool("leader-a");
        rows.node(pool, "leader-a-1", 10, LONG);
        rows.allotment(pool, 10, 10);
        UUID rnd = rows.policy("/rnd", pool, 5, 9);
        UUID devops = rows.policy("/devops", pool, 5, 9);
        UUID three = rows.profile(3, pool);
        UUID rndQueue = rows.queue(rnd, three);
        UUID devopsQueue = rows.queue(devops, three);
        List<UUID> jobs = List.of(
                rows.submit(rndQueue, rnd, three),
                rows.submit(rndQueue, rnd, three),
                rows.submit(rndQueue, rnd, three),
                rows.submit(rndQueue, rnd, three));
        jobs.subList(0, 3).forEach(job -> eventually(job, rows, "starting"));
        Awaitility.await().until(() -> "LIMIT".equals(rows.reason(jobs.get(3))));
        jobs.subList(0, 3).forEach(job -> rows.report(job, "running", ""));
        jobs.subList(0, 3).forEach(job -> eventually(job, rows, "running"));

        UUID claimant = rows.submit(devopsQueue, devops, three);
        eventually(jobs.get(2), rows, "stopping");
        Awaitility.await().until(() -> "NOMINATED".equals(rows.reason(claimant)));
        rows.report(jobs.get(2), "ended", "preempted");
        eventually(claimant, rows, "starting");

        assertThat(rows.state(jobs.get(0))).isEqualTo("running");
        assertThat(rows.state(jobs.get(1))).isEqualTo("running");
        assertThat(rows.state(jobs.get(2))).isEqualTo("waiting");
        assertThat(rows.run("select kind from usage_event where tenant_id = 'leader-a' order by seq"))
                .extracting(row -> row.getString("kind"))
                .containsSubsequence(
                        "tenant-reserved",
                        "policy-reserved",
                        "policy-reserved",
                        "allocated",
                        "allocated",
                        "allocated",
                        "phase",
                        "phase",
                        "phase",
                        "phase",
                        "freed",
                        "allocated");
        assertThat(rows.run("select cause, receipt from preemption where workload_id = $1", jobs.get(2)))
                .singleElement()
                .satisfies(row -> assertThat(row.getString("cause")).isEqualTo("reclaim"));
    }

    /** Stores a word that only a newer version knows; the next leader, which reads all workloads, finds it. */
    @Test
    void aStoredWorkloadThatCannotBePlannedWithDoesNotStopTheCell() {
        CellRows rows = new CellRows(database, "leader-odd");
        OneGroup group = OneGroup.of(rows, 2, 1);
        UUID odd = group.submit();
        eventually(odd, rows, "starting");
        rows.run("update attempt set state = 'stopping', stop_reason = 'of-tomorrow' where workload_id = $1", odd);
        nextLeader(rows);

        UUID other = group.submit();
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> rows.state(other)
                .equals("starting"));
        assertThat(rows.run("select set_aside_at from workload where id = $1", odd))
                .singleElement()
                .satisfies(
                        row -> assertThat(row.getOffsetDateTime("set_aside_at")).isNotNull());

        // The next leader knows the word.
        rows.run("update attempt set stop_reason = 'cancelled' where workload_id = $1", odd);
        nextLeader(rows);
        rows.report(odd, "ended", "cancelled");
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> rows.state(odd)
                .equals("cancelled"));
    }

    private void nextLeader(CellRows rows) {
        rows.run("update cell set epoch = epoch + 1, lease_until = '-infinity'");
        dispatcher.wake();
    }

    @Test
    void workOnANodeWhoseLeaseEndedIsQueuedAgainAndMeteredAsOutOfContact() {
        CellRows rows = new CellRows(database, "leader-b");
        UUID pool = rows.pool("leader-b");
        UUID node = rows.node(pool, "leader-b-1", 2, Duration.ofSeconds(3));
        rows.allotment(pool, 2, 2);
        UUID policy = rows.policy("/all", pool, 2, 2);
        UUID profile = rows.profile(2, pool);
        UUID job = rows.submit(rows.queue(policy, profile), policy, profile);
        eventually(job, rows, "starting");

        eventually(job, rows, "waiting");
        assertThat(rows.run("select outcome from attempt where workload_id = $1", job))
                .singleElement()
                .satisfies(row -> assertThat(row.getString("outcome")).isEqualTo("lost"));
        assertThat(rows.run(
                        "select phase from usage_event where tenant_id = 'leader-b' and kind = 'phase' order by seq"))
                .extracting(row -> row.getString("phase"))
                .containsExactly("out-of-contact");

        rows.contact(node, LONG);
        eventually(job, rows, "starting");
        assertThat(rows.run("select number from attempt where workload_id = $1 and state = 'bound'", job))
                .singleElement()
                .satisfies(row -> assertThat(row.getInteger("number")).isEqualTo(2));
    }

    @Test
    void heldWorkWaitsForItsReleaseAndCancelledWorkLeavesItsDevices() {
        CellRows rows = new CellRows(database, "leader-c");
        OneGroup group = OneGroup.of(rows, 2, 2);
        UUID first = group.submit();
        eventually(first, rows, "starting");
        UUID second = group.submit();
        rows.wish(second, "hold");
        eventually(second, rows, "held");

        rows.wish(first, "cancel");
        eventually(first, rows, "stopping");
        rows.report(first, "ended", "cancelled");
        eventually(first, rows, "cancelled");
        assertThat(rows.state(second)).isEqualTo("held");

        rows.wish(second, "run");
        eventually(second, rows, "starting");
    }

    @Test
    void aReservationThatCannotBeHonouredIsMeteredAsUnmetUntilTheWorkStartsOrLeaves() {
        CellRows owner = new CellRows(database, "leader-d");
        CellRows claimant = new CellRows(database, "leader-e");
        UUID pool = owner.pool("leader-d");
        owner.node(pool, "leader-d-1", 2, LONG);
        owner.allotment(pool, 2, 2);
        claimant.allotment(pool, 2, 2);
        UUID ownerPolicy = owner.policy("/all", pool, 2, 2);
        UUID ownerProfile = owner.profile(2, pool);
        // Within its own reservation, so that no workload may preempt it.
        UUID fixed = owner.submit(owner.queue(ownerPolicy, ownerProfile), ownerPolicy, ownerProfile, false);
        eventually(fixed, owner, "starting");

        UUID policy = claimant.policy("/all", pool, 2, 2);
        UUID profile = claimant.profile(1, pool);
        UUID queue = claimant.queue(policy, profile);
        List<UUID> asked = List.of(
                claimant.submit(queue, policy, profile),
                claimant.submit(queue, policy, profile),
                claimant.submit(queue, policy, profile));
        dispatcher.wake();
        Awaitility.await().until(() -> lastUnmet(claimant) == 2_000);

        claimant.wish(asked.get(0), "cancel");
        claimant.wish(asked.get(1), "cancel");
        dispatcher.wake();
        Awaitility.await().until(() -> lastUnmet(claimant) == 1_000);

        owner.report(fixed, "ended", "succeeded");
        eventually(asked.get(2), claimant, "starting");
        assertThat(lastUnmet(claimant)).isZero();
        assertThat(claimant.run("select distinct at_ms from usage_event where tenant_id = 'leader-e' and (kind = "
                        + "'allocated' or kind = 'unmet' and gpu_milli = 0)"))
                .as("the unmet amount ends with the plan that starts the workload")
                .hasSize(1);
        assertThat(owner.run("select 1 from usage_event where tenant_id = 'leader-d' and kind = 'unmet'"))
                .isEmpty();
    }

    private static long lastUnmet(CellRows rows) {
        return rows
                .run(
                        "select gpu_milli from usage_event where tenant_id = $1 and kind = 'unmet' order by seq "
                                + "desc limit 1",
                        rows.tenant)
                .stream()
                .mapToLong(row -> row.getLong("gpu_milli"))
                .findFirst()
                .orElse(-1);
    }
}
