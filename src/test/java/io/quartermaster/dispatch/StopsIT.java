package io.quartermaster.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.quartermaster.testing.WithoutLeader;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** How long a stopping workload keeps its devices. */
@QuarkusTest
@TestProfile(WithoutLeader.class)
class StopsIT extends LedByHand {

    @Test
    void thePoolBoundsTheGraceOfWorkThatIsStoppedForTheHolderOfAReservation() {
        CellRows lender = new CellRows(database, "stops-lender");
        UUID pool = lender.poolOf(2);
        CellRows borrower = new CellRows(database, "stops-borrower");
        borrower.allotment(pool, 0, 2);
        UUID job = borrower.submit(queueOfPatientPolicy(borrower, pool));
        cell.settle();
        assertThat(borrower.state(job)).isEqualTo("starting");
        lender.run("update pool set max_grace_ms = 10000 where id = $1", pool);

        UUID claim = lender.job(pool, 2, lender.profile(2, pool));
        cell.settle();

        assertThat(lender.state(claim)).isEqualTo("waiting");
        assertThat(borrower.state(job)).isEqualTo("stopping");
        assertThat(graceMillis(borrower, job)).isEqualTo(10_000);
    }

    @Test
    void thePoolBoundsTheGraceOfWorkThatIsCancelled() {
        CellRows rows = new CellRows(database, "stops-cancelled");
        UUID pool = rows.poolOf(1);
        UUID job = rows.submit(queueOfPatientPolicy(rows, pool));
        cell.settle();
        rows.run("update pool set max_grace_ms = 7000 where id = $1", pool);

        rows.wish(job, "cancel");
        cell.settle();

        assertThat(graceMillis(rows, job)).isEqualTo(7_000);
    }

    @Test
    void aGraceThatIsShorterThanThePoolAllowsStaysAsItIs() {
        CellRows rows = new CellRows(database, "stops-short");
        UUID pool = rows.poolOf(1);
        UUID job = rows.job(pool, 1, rows.profile(1, pool));
        cell.settle();

        rows.wish(job, "cancel");
        cell.settle();

        assertThat(graceMillis(rows, job)).isEqualTo(1_000);
    }

    @Test
    void whoCancelsMayLeaveLessTimeAlsoToWorkThatIsStopping() {
        CellRows rows = new CellRows(database, "stops-hurried");
        UUID pool = rows.poolOf(1);
        UUID job = rows.submit(queueOfPatientPolicy(rows, pool));
        cell.settle();
        rows.wish(job, "cancel");
        cell.settle();
        assertThat(graceMillis(rows, job)).isEqualTo(300_000);

        rows.run("update workload set stop_by = clock_timestamp() + interval '20 seconds' where id = $1", job);
        rows.inbox("workload", job.toString());
        cell.settle();

        assertThat(rows.run(
                        "select 1 from attempt a join workload w on w.id = a.workload_id where w.id = $1 and "
                                + "a.state = 'stopping'"
                                + " and a.deadline_at <= w.stop_by and a.deadline_at > w.stop_by - interval '2 "
                                + "milliseconds'",
                        job))
                .hasSize(1);
        assertThat(rows.usage("phase")).as("the ledger gets no second phase").hasSize(1);
    }

    @Test
    void whatIsCancelledWithoutGraceIsDueAtOnce() {
        CellRows rows = new CellRows(database, "stops-killed");
        UUID pool = rows.poolOf(1);
        UUID job = rows.submit(queueOfPatientPolicy(rows, pool));
        cell.settle();

        rows.run("update workload set wish = 'cancel', stop_by = clock_timestamp() where id = $1", job);
        rows.inbox("workload", job.toString());
        cell.settle();

        assertThat(graceMillis(rows, job)).isZero();
    }

    /** A queue whose policy reserves nothing and gives an hour of grace. */
    private static CellRows.QueueIds queueOfPatientPolicy(CellRows rows, UUID pool) {
        UUID policy = rows.policy("/patient", pool, 0, 2);
        rows.run("update policy set grace_ms = 3600000 where id = $1", policy);
        UUID profile = rows.profile(1, pool);
        return new CellRows.QueueIds(rows.queue(policy, profile), policy, profile);
    }

    private static long graceMillis(CellRows rows, UUID job) {
        return rows.run(
                        "select (extract(epoch from deadline_at - stopping_at) * 1000)::bigint as grace from "
                                + "attempt where workload_id = $1",
                        job)
                .getFirst()
                .getLong("grace");
    }
}
