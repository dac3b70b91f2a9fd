package io.quartermaster.dispatch;

import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.hasItems;
import static org.hamcrest.Matchers.not;
import static org.hamcrest.Matchers.notNullValue;
import static org.hamcrest.Matchers.nullValue;

import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.quartermaster.engine.Engine;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.testing.WithoutLeader;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** The operator's view of the quarantine and of the cell, and the operator's actions. */
@QuarkusTest
@TestProfile(WithoutLeader.class)
class QuarantineIT extends LedByHand {

    private static final String ENTRIES = "/v1/operator/quarantine-entries";
    private static final String WHY = "a test";

    @Test
    void anOperatorSeesWhatIsSetAsideAndHasItRetriedOrDropped() {
        CellRows rows = new CellRows(database, "aside-api");
        OneGroup group = OneGroup.of(rows, 2, 1);
        UUID retried = group.submit();
        cell.settle();
        UUID dropped = group.submit();
        cell.settle();
        rows.run(
                "update workload set set_aside_at = clock_timestamp(), set_aside_until = clock_timestamp() + "
                        + "interval '1 minute', set_aside_times = 1, set_aside_why = $2 where id in ($1, $3)",
                retried,
                WHY,
                dropped);
        long row = rows.run(
                        "insert into inbox (tenant_id, kind, ref, set_aside_at, set_aside_why) values ($1, "
                                + "'policy', 'odd', clock_timestamp(), $2) returning id",
                        rows.tenant,
                        WHY)
                .getFirst()
                .getLong("id");

        request(operatorToken())
                .get(ENTRIES)
                .then()
                .statusCode(200)
                .body("items.id", hasItems("inbox-row-" + row, "workload-" + retried, "workload-" + dropped));
        request(operatorToken())
                .get(ENTRIES + "/workload-" + retried)
                .then()
                .statusCode(200)
                .body("kind", equalTo("workload"))
                .body("tenant", equalTo(rows.tenant))
                .body("why", equalTo(WHY))
                .body("gpus", equalTo("1"))
                .body("times", equalTo(1))
                .body("retryAt", notNullValue());
        request(operatorToken())
                .get(ENTRIES + "/workload-" + UUID.randomUUID())
                .then()
                .statusCode(404);

        request(operatorToken())
                .queryParam("dryRun", true)
                .delete(ENTRIES + "/inbox-row-" + row)
                .then()
                .statusCode(200);
        request(operatorToken()).get(ENTRIES + "/inbox-row-" + row).then().statusCode(200);
        for (int i = 0; i < 2; i++) {
            request(operatorToken())
                    .header("Idempotency-Key", "drop-" + row)
                    .delete(ENTRIES + "/inbox-row-" + row)
                    .then()
                    .statusCode(204);
        }
        request(operatorToken()).get(ENTRIES + "/inbox-row-" + row).then().statusCode(404);

        request(operatorToken())
                .post(ENTRIES + "/workload-" + retried + "/retries")
                .then()
                .statusCode(200);
        request(operatorToken()).delete(ENTRIES + "/workload-" + dropped).then().statusCode(204);
        LeaderTerm term = new LeaderTerm(
                database, HandLedCell.leaderSettings(Settings.DEFAULT).with(Engine::plan));
        term.begin(cell.epoch());
        term.runCycle();
        rows.report(dropped, "ended", "cancelled");
        term.runCycle();
        term.begin(cell.epoch());
        term.runCycle();
        term.runCycle();

        request(operatorToken()).get(ENTRIES + "/workload-" + retried).then().statusCode(404);
        assertThat(rows.run("select set_aside_times from workload where id = $1", retried))
                .singleElement()
                .satisfies(
                        found -> assertThat(found.getInteger("set_aside_times")).isEqualTo(1));
        assertThat(rows.run("select wish from workload where id = $1", dropped))
                .singleElement()
                .satisfies(found -> assertThat(found.getString("wish")).isEqualTo("cancel"));
        assertThat(rows.run(
                        "select action from audit_entry where tenant_id = 'operator' and resource like '%' || $1 "
                                + "|| '%' order by id",
                        "quarantine-entries"))
                .extracting(found -> found.getString("action"))
                .contains("quarantine:retry", "quarantine:drop");
        assertThat(rows.run("select action from audit_entry where tenant_id = $1", rows.tenant))
                .extracting(found -> found.getString("action"))
                .contains("workloads:cancel");
    }

    @Test
    void aTenantCannotBeDropped() {
        CellRows rows = new CellRows(database, "aside-tenant");
        rows.run(
                "update tenant set set_aside_at = clock_timestamp(), set_aside_why = $2 where id = $1",
                rows.tenant,
                WHY);
        try {
            request(operatorToken())
                    .delete(ENTRIES + "/tenant-" + rows.tenant)
                    .then()
                    .statusCode(409)
                    .body("code", equalTo("not-droppable"));
            request(operatorToken())
                    .post(ENTRIES + "/tenant-" + rows.tenant + "/retries")
                    .then()
                    .statusCode(200)
                    .body("retryAt", nullValue());
        } finally {
            rows.run("update tenant set set_aside_at = null where id = $1", rows.tenant);
        }
    }

    @Test
    void aStampThatIsAheadIsResetAsFarAsNothingIsRecordedAfterIt() {
        CellRows rows = new CellRows(database, "aside-stamp");
        cell.settle();
        request(operatorToken())
                .post("/v1/operator/cells/main/stamp-resets")
                .then()
                .statusCode(409)
                .body("code", equalTo("stamp-not-ahead"));
        rows.run("update cell set stamp = clock_timestamp() + interval '1 hour' where id = 'main'");
        request(operatorToken())
                .get("/v1/operator/cells/main")
                .then()
                .statusCode(200)
                .body("stampAhead", not(equalTo("PT0S")));
        UUID pool = rows.poolOf(1);
        UUID job = rows.job(pool, 1, rows.profile(1, pool));
        rows.run("update workload set changed_at = clock_timestamp() + interval '30 minutes' where id = $1", job);
        request(operatorToken())
                .post("/v1/operator/cells/main/stamp-resets")
                .then()
                .statusCode(409)
                .body("code", equalTo("recorded-in-the-future"))
                .body("detail", containsString("Planning resumes by itself at"));
        rows.run("update workload set changed_at = clock_timestamp() where id = $1", job);

        request(operatorToken())
                .post("/v1/operator/cells/main/stamp-resets")
                .then()
                .statusCode(200)
                .body("stampAhead", equalTo("PT0S"))
                .body("leader", nullValue());

        cell.close();
        cell = HandLedCell.lead(database);
        cell.settle();
        assertThat(rows.state(job)).isEqualTo("starting");
        assertThat(rows.run("select after from audit_entry where action = 'cells:reset-stamp'"))
                .isNotEmpty();
    }
}
