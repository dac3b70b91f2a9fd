package io.quartermaster.execution.agents;

import static io.restassured.RestAssured.given;
import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.containsString;

import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.quartermaster.agent.protocol.AttemptReport;
import io.quartermaster.agent.protocol.AttemptState;
import io.quartermaster.agent.protocol.Protocol;
import io.quartermaster.testing.WithoutLeader;
import io.vertx.mutiny.sqlclient.Row;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The service stores the reports of an agent about its attempts. */
@QuarkusTest
@TestProfile(WithoutLeader.class)
class AttemptReportIT extends AgentCalls {

    @Test
    void theLastWordOnASilentNodeIsTheLeaders() {
        Bound bound = bind("lease-silent");
        run("""
                insert into report (tenant_id, attempt_id, node_id, state, outcome, reported_at)
                values ($1, $2, $3, 'ended', 'lost', clock_timestamp())
                """, bound.tenant(), bound.attempt(), bound.node());

        sync(bound, new AttemptReport(bound.attempt(), new AttemptState.Running(1), null, null, null));
        sync(
                bound,
                new AttemptReport(
                        bound.attempt(),
                        new AttemptState.Ended(AttemptState.Outcome.SUCCEEDED, 0, 1L, 2, ""),
                        null,
                        null,
                        null));

        assertThat(run("select state, outcome from report where attempt_id = $1", bound.attempt()))
                .singleElement()
                .satisfies(row -> {
                    assertThat(row.getString("state")).isEqualTo("ended");
                    assertThat(row.getString("outcome")).isEqualTo("lost");
                });
        assertThat(run("select 1 from inbox where tenant_id = $1 and kind = 'report'", bound.tenant()))
                .isEmpty();
    }

    @Test
    void theEndOfWorkIsCountedBackFromItsReportAndToldAgainChangesNothing() {
        Bound bound = bind("lease-end-told", Duration.ofMinutes(10));

        sync(bound, ended(bound, 100_700L));
        long first = workEndedAgoMillis(bound);
        sync(bound, ended(bound, 5L));

        assertThat(first).isBetween(100_700L, 110_000L);
        assertThat(workEndedAgoMillis(bound)).isGreaterThanOrEqualTo(first);
    }

    @Test
    void whyAnAttemptEndedIsStoredCut() {
        Bound bound = bind("lease-end-words");

        sync(
                bound,
                new AttemptReport(
                        bound.attempt(),
                        new AttemptState.Ended(
                                AttemptState.Outcome.FAILED,
                                1,
                                1L,
                                Protocol.MAX_EPOCH_MILLIS,
                                "\0\ud800" + "x".repeat(6_000_000)),
                        null,
                        null,
                        null));

        assertThat(run(
                        "select state, octet_length(message) as bytes, message from report where attempt_id = $1",
                        bound.attempt()))
                .singleElement()
                .satisfies(row -> {
                    assertThat(row.getString("state")).isEqualTo("ended");
                    assertThat(row.getInteger("bytes")).isBetween(4_000, Protocol.MAX_DETAIL_BYTES + 8);
                    assertThat(row.getString("message")).endsWith("x ... (cut)");
                });
    }

    @Test
    void workEndsNeitherBeforeItsAttemptNorBeforeTheLastContact() {
        Bound bound = bind("lease-liar", Duration.ofMinutes(10));
        sync(bound, ended(bound, Protocol.MAX_AGE_MILLIS));
        assertThat(run(
                        "select work_ended_at = bound_at as clipped from report r join attempt a on a.id = r.attempt_id"
                                + " where a.id = $1",
                        bound.attempt()))
                .singleElement()
                .satisfies(row -> assertThat(row.getBoolean("clipped")).isTrue());

        Bound heard = bind("lease-heard", Duration.ofMinutes(10));
        sync(heard, new AttemptReport(heard.attempt(), new AttemptState.Running(1), null, null, null));
        Row contact = contact(heard);
        sync(heard, ended(heard, 60_000L));
        assertThat(run("select work_ended_at from report where attempt_id = $1", heard.attempt()))
                .singleElement()
                .satisfies(row -> assertThat(row.getOffsetDateTime("work_ended_at"))
                        .isBetween(
                                contact.getOffsetDateTime("last_heard"),
                                contact.getOffsetDateTime("last_heard").plusSeconds(10)));
    }

    @Test
    void anAgentThatDoesNotTellWhenItsWorkEndedIsTakenAtItsWord() {
        Bound bound = bind("lease-untold");

        sync(bound, ended(bound, null));

        assertThat(run("select work_ended_at from report where attempt_id = $1", bound.attempt()))
                .singleElement()
                .satisfies(row ->
                        assertThat(row.getOffsetDateTime("work_ended_at")).isNull());
    }

    @Test
    void anAgeThatCannotBeIsRefused() {
        Bound bound = bind("lease-absurd");
        String token = opened(bound);
        for (String age : List.of("-1", "316224000001", "9223372036854775807", "\"soon\"")) {
            given().header("Authorization", "Bearer " + token)
                    .contentType("application/json")
                    .body("""
                            {"formatVersion": 1, "agentVersion": "1", "bootId": "boot", "instanceId": "00000000-0000-0001-0000-000000000001",
                             "sequence": 1, "appliedRevision": 0, "waitMillis": 0,
                             "inventory": {"devices": [], "cpuMilli": 1000, "memoryMiB": 1024, "isolation": "container",
                                           "trustsTenants": false, "simulated": true},
                             "attempts": [{"attemptId": "%s", "endedAgoMillis": %s,
                                           "state": {"state": "ended", "outcome": "succeeded", "endedAtEpochMillis": 2, "detail": ""}}]}
                            """.formatted(bound.attempt(), age))
                    .post("/v1/nodes/" + bound.nodeName() + "/sync")
                    .then()
                    .statusCode(400)
                    .body(containsString("endedAgoMillis"));
        }
        assertThat(run("select 1 from report where attempt_id = $1", bound.attempt()))
                .isEmpty();
    }

    private static AttemptReport ended(Bound bound, @Nullable Long agoMillis) {
        return new AttemptReport(
                bound.attempt(),
                new AttemptState.Ended(AttemptState.Outcome.SUCCEEDED, 0, 1L, 2, ""),
                null,
                null,
                agoMillis);
    }

    private long workEndedAgoMillis(Bound bound) {
        return run(
                        "select (extract(epoch from clock_timestamp() - work_ended_at) * 1000)::bigint as ago "
                                + "from report where attempt_id = $1",
                        bound.attempt())
                .getFirst()
                .getLong("ago");
    }

    @Test
    void aRepeatedReportWritesNothing() {
        Bound bound = bind("lease-repeated");
        sync(bound, new AttemptReport(bound.attempt(), new AttemptState.Running(5), null, null, null));
        String first = reportVersion(bound);

        digest = sync(bound, new AttemptReport(bound.attempt(), new AttemptState.Running(5), null, null, null))
                .inventoryDigest();
        sync(bound, new AttemptReport(bound.attempt(), new AttemptState.Running(5), null, null, null));
        assertThat(reportVersion(bound)).isEqualTo(first);

        sync(
                bound,
                new AttemptReport(
                        bound.attempt(),
                        new AttemptState.Running(5),
                        null,
                        new AttemptReport.LogTail("more", 4),
                        null));
        assertThat(reportVersion(bound)).isNotEqualTo(first);
    }

    private String reportVersion(Bound bound) {
        return run("select xmin::text || ctid::text as version from report where attempt_id = $1", bound.attempt())
                .getFirst()
                .getString("version");
    }
}
