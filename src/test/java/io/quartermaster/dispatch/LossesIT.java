package io.quartermaster.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.quartermaster.testing.WithoutLeader;
import io.vertx.mutiny.sqlclient.Row;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Nodes that fall silent, parts that end before the rest, and work that is lost again and again. */
@QuarkusTest
@TestProfile(WithoutLeader.class)
class LossesIT extends LedByHand {

    @Test
    void aGangWithALostNodeEndsWhenTheOthersHaveStoppedAndWaitsAgain() {
        CellRows rows = new CellRows(database, "races-gang");
        UUID pool = rows.pool("races-gang");
        UUID first = rows.node(pool, "races-gang-1", 1, LONG);
        UUID second = rows.node(pool, "races-gang-2", 1, LONG);
        rows.allotment(pool, 2, 2);
        UUID job = rows.job(pool, 2, rows.profile(1, 2, 2, pool));
        cell.settle();
        run(rows, job);
        assertThat(rows.state(job)).isEqualTo("running");

        rows.contact(second, OVER);
        cell.settle();
        assertThat(rows.state(job)).isEqualTo("stopping");
        assertThat(rows.held()).isEqualTo(2);

        // The agent of the lost node is back before the rest has stopped: what it says of the attempt counts no more.
        rows.run(
                "update node_contact set lease_until = clock_timestamp() + interval '30 minutes' where node_id = $1",
                second);
        rows.inbox("node", second.toString());
        cell.settle();
        assertThat(rows.state(job)).isEqualTo("stopping");

        rows.reportOn(first, job, "ended", "cancelled");
        cell.settle();
        assertThat(attempts(rows, job))
                .extracting(row -> row.getString("outcome"))
                .startsWith("lost");
        assertThat(rows.state(job)).isIn("waiting", "starting");
        assertThat(rows.run(
                        "select phase from usage_event where tenant_id = $1 and kind = 'phase' order by seq",
                        rows.tenant))
                .extracting(row -> row.getString("phase"))
                .containsExactly("running", "out-of-contact");
    }

    @Test
    void aNodeLostWhileItsAttemptIsStoppingIsOutOfContactSinceItsLastWord() {
        CellRows rows = new CellRows(database, "races-late");
        UUID pool = rows.pool("races-late");
        UUID first = rows.node(pool, "races-late-1", 1, LONG);
        UUID second = rows.node(pool, "races-late-2", 1, LONG);
        rows.allotment(pool, 2, 2);
        UUID policy = rows.policy("/all", pool, 2, 2);
        UUID profile = rows.profile(1, 2, 2, pool);
        UUID job = rows.submit(rows.queue(policy, profile), policy, profile);
        cell.settle();
        rows.report(job, "running", "");
        cell.settle();
        rows.wish(job, "cancel");
        cell.settle();

        rows.contact(second, OVER);
        cell.settle();
        assertThat(rows.state(job)).isEqualTo("stopping");
        assertThat(rows.run(
                        "select u.phase, u.since_ms, floor(extract(epoch from c.last_heard) * 1000)::bigint as last_word"
                                + " from usage_event u, node_contact c where u.tenant_id = $1 and u.kind = 'phase' and c.node_id = $2"
                                + " order by u.seq desc limit 1",
                        rows.tenant,
                        second))
                .singleElement()
                .satisfies(row -> {
                    assertThat(row.getString("phase")).isEqualTo("out-of-contact");
                    assertThat(row.getLong("since_ms")).isEqualTo(row.getLong("last_word"));
                });

        rows.reportOn(first, job, "ended", "cancelled");
        cell.settle();
        assertThat(rows.state(job)).isEqualTo("cancelled");
        assertThat(rows.held()).isZero();
    }

    @Test
    void aWorkerThatIsDoneFirstEndsNobodyElse() {
        CellRows rows = new CellRows(database, "races-done");
        UUID pool = rows.pool("races-done");
        UUID first = rows.node(pool, "races-done-1", 1, LONG);
        UUID second = rows.node(pool, "races-done-2", 1, LONG);
        rows.allotment(pool, 2, 2);
        UUID job = rows.job(pool, 2, rows.profile(1, 2, 2, pool));
        cell.settle();
        run(rows, job);

        rows.reportOn(first, job, "ended", "succeeded");
        cell.settle();
        assertThat(rows.state(job)).isEqualTo("running");

        rows.reportOn(second, job, "ended", "succeeded");
        cell.settle();
        assertThat(rows.state(job)).isEqualTo("succeeded");
    }

    @Test
    void whatASilentNodeDidSinceItsLastWordIsNotCountedAsRunning() {
        CellRows rows = new CellRows(database, "races-silent");
        UUID pool = rows.pool("races-silent");
        UUID node = rows.node(pool, "races-silent-1", 1, LONG);
        rows.allotment(pool, 1, 1);
        UUID job = rows.job(pool, 1, rows.profile(1, pool));
        cell.settle();
        run(rows, job);
        rows.contact(node, OVER);
        long lastWord = rows.run(
                        "select floor(extract(epoch from last_heard) * 1000)::bigint as ms from node_contact where node_id = $1",
                        node)
                .getFirst()
                .getLong("ms");
        cell.settle();

        assertThat(rows.run(
                        "select phase, since_ms, at_ms from usage_event where tenant_id = $1 and phase = 'out-of-contact'",
                        rows.tenant))
                .singleElement()
                .satisfies(row -> {
                    assertThat(row.getLong("since_ms")).isEqualTo(lastWord);
                    assertThat(row.getLong("at_ms")).isGreaterThanOrEqualTo(lastWord);
                });
        assertThat(rows.run("select outcome from report where tenant_id = $1", rows.tenant))
                .extracting(row -> row.getString("outcome"))
                .containsExactly("lost");
    }

    @Test
    void workThatIsLostAtOnceIsTriedAgainAfterADelayThatItsReasonTells() {
        CellRows rows = new CellRows(database, "races-retry");
        UUID job = OneGroup.of(rows, 1, 1).submit();
        rows.run("update workload set quick_losses = 5 where id = $1", job);
        cell.settle();
        for (int loss = 1; loss <= 3; loss++) {
            int losses = loss;
            rows.report(job, "ended", "lost");
            cell.rebuild();
            cell.settle();
            assertThat(rows.state(job)).isEqualTo("waiting");
            assertThat(rows.reason(job)).isEqualTo("RETRY");
            assertThat(rows.run(
                            "select quick_losses, reason->0->>'sentence' as sentence,"
                                    + " round(extract(epoch from retry_at - changed_at)) as delay from workload where id = $1",
                            job))
                    .singleElement()
                    .satisfies(row -> {
                        assertThat(row.getInteger("quick_losses")).isEqualTo(5 + losses);
                        assertThat(row.getNumeric("delay").intValue()).isEqualTo(16 << losses);
                        assertThat(row.getString("sentence")).contains("lost", "tried again at");
                    });
            Leader.Outcome waits = cell.cycle();
            assertThat(waits.nextPlanMillis()).isPresent();
            assertThat(rows.state(job)).isEqualTo("waiting");

            rows.run("update workload set retry_at = clock_timestamp() - interval '1 second' where id = $1", job);
            if (loss == 1) {
                cell.rebuild();
            } else {
                rows.inbox("workload", job.toString());
            }
            cell.settle();
            assertThat(rows.state(job)).isEqualTo("starting");
        }
    }

    @Test
    void aDelayEndsByItselfAndByAHoldAndARelease() {
        CellRows rows = new CellRows(database, "races-release");
        UUID job = OneGroup.of(rows, 1, 1).submit();
        cell.settle();
        rows.report(job, "ended", "lost");
        cell.settle();
        assertThat(rows.reason(job)).isEqualTo("RETRY");
        Awaitility.await().atMost(Duration.ofSeconds(10)).until(() -> {
            cell.settle();
            return rows.state(job).equals("starting");
        });

        rows.run("update workload set quick_losses = 8 where id = $1", job);
        rows.report(job, "ended", "lost");
        cell.settle();
        assertThat(rows.reason(job)).isEqualTo("RETRY");
        rows.wish(job, "hold");
        cell.settle();
        assertThat(rows.state(job)).isEqualTo("held");
        rows.wish(job, "run");
        cell.settle();
        assertThat(rows.state(job)).isEqualTo("starting");
    }

    private static List<Row> attempts(CellRows rows, UUID workload) {
        return rows.run("select number, outcome from attempt where workload_id = $1 order by number", workload);
    }
}
