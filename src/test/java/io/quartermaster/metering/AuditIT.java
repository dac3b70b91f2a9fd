package io.quartermaster.metering;

import static io.quartermaster.metering.BookRows.HOUR;
import static io.quartermaster.metering.BookRows.MINUTE;
import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.equalTo;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.metering.audit.AuditApi;
import io.quartermaster.metering.audit.AuditService;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.tenancy.TestTenants;
import io.smallrye.mutiny.Uni;
import io.vertx.core.buffer.Buffer;
import jakarta.inject.Inject;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.eclipse.microprofile.config.ConfigProvider;
import org.junit.jupiter.api.Test;

/** The audit finds nothing in correct usage and names each manipulation; exports contain each record once. */
@QuarkusTest
class AuditIT {

    @Inject
    SystemDatabase database;

    @Inject
    HourCloser closing;

    @Inject
    AuditService audits;

    @Inject
    UsageExport exports;

    private final long start = BookRows.hoursAgo(4);

    private BookRows closedBooks(String tenant) {
        BookRows rows = new BookRows(database, tenant);
        rows.together(() -> {
            rows.reserved(start, 4);
            rows.policyReserved(start, 2);
            UUID first = rows.allocated(start + 10 * MINUTE, 3);
            rows.phase(start + 11 * MINUTE, first, "running", start + 11 * MINUTE);
            rows.allocated(start + 20 * MINUTE, 3);
            rows.unmet(start + 30 * MINUTE, 1);
            rows.freed(start + 70 * MINUTE, first);
        });
        Awaitility.await().atMost(Duration.ofSeconds(15)).until(() -> {
            closing.closeDue();
            return rows.number("select count(*) from closed_hour where tenant_id = $1", tenant) >= 3;
        });
        return rows;
    }

    @Test
    void auditThatIsAskedForIsAnOperationWithAReport() {
        BookRows rows = closedBooks("audit-asked");
        String id = request(operatorToken())
                .body(Map.of("tenant", rows.tenant))
                .post("/v1/operator/audits")
                .then()
                .statusCode(202)
                .body("kind", equalTo("audit-books"))
                .extract()
                .path("id");

        TestTenants.awaitState(id, "succeeded");

        request(operatorToken())
                .get("/v1/operator/audits/" + id)
                .then()
                .statusCode(200)
                .body("holds", equalTo(true))
                .body("tenants.tenant", contains(rows.tenant));
        request(operatorToken())
                .body(Map.of("tenant", "no-such-tenant"))
                .post("/v1/operator/audits")
                .then()
                .statusCode(400)
                .body("errors.field", contains("tenant"));
        request(operatorToken())
                .get("/v1/operator/audits/" + UUID.randomUUID())
                .then()
                .statusCode(404);
    }

    private List<AuditApi.Violation> violations(BookRows rows) {
        AuditApi.View view = audits.audit(new AuditApi.Request(new TenantId(rows.tenant), null, null));
        assertThat(view.holds()).isEqualTo(view.violations().isEmpty());
        return view.violations();
    }

    /** Runs a statement as the owner, whose rights are not restricted. */
    private static void asOwner(String sql, Object... parameters) {
        var config = ConfigProvider.getConfig();
        try (Connection connection = DriverManager.getConnection(
                        config.getValue("quarkus.datasource.jdbc.url", String.class),
                        config.getValue("quarkus.flyway.username", String.class),
                        config.getValue("quarkus.flyway.password", String.class));
                PreparedStatement statement = connection.prepareStatement(sql)) {
            connection.setAutoCommit(false);
            for (String table : List.of("segment", "usage_event", "attempt", "audit_entry")) {
                connection.createStatement().execute("alter table " + table + " no force row level security");
            }
            for (int i = 0; i < parameters.length; i++) {
                statement.setObject(i + 1, parameters[i]);
            }
            assertThat(statement.executeUpdate()).isEqualTo(1);
            for (String table : List.of("segment", "usage_event", "attempt", "audit_entry")) {
                connection.createStatement().execute("alter table " + table + " force row level security");
            }
            connection.commit();
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void trueBooksHoldAndBothSidesOfTheEquationsAreShown() {
        BookRows rows = closedBooks("audit-a");

        AuditApi.View view = audits.audit(new AuditApi.Request(new TenantId("audit-a"), null, null));

        assertThat(view.violations()).isEmpty();
        assertThat(view.tenants()).singleElement().satisfies(books -> {
            assertThat(books.closedHours()).isGreaterThanOrEqualTo(3);
            assertThat(books.pools()).singleElement().satisfies(pool -> {
                assertThat(pool.pool()).isEqualTo(rows.poolName());
                long stated = Long.parseLong(pool.stated().gpuMilliMillis());
                assertThat(stated)
                        .isEqualTo(Long.parseLong(pool.reserved().gpuMilliMillis())
                                + Long.parseLong(pool.reservedIdle().gpuMilliMillis()));
            });
        });
    }

    @Test
    void anEditedSegmentIsNamed() {
        BookRows rows = closedBooks("audit-b");
        asOwner("update segment set gpu_milli = gpu_milli + 1 where tenant_id = ? and seq = 2", rows.tenant);

        assertThat(violations(rows))
                .anySatisfy(violation -> {
                    assertThat(violation.rule()).isEqualTo("hash-chain");
                    assertThat(violation.subject()).isEqualTo("segment 2");
                })
                .extracting(AuditApi.Violation::rule)
                .contains("segments-follow-from-events");
    }

    @Test
    void aSegmentTakenOutIsMissed() {
        BookRows rows = closedBooks("audit-c");
        asOwner("delete from segment where tenant_id = ? and seq = 3", rows.tenant);

        assertThat(violations(rows)).anySatisfy(violation -> {
            assertThat(violation.rule()).isEqualTo("hash-chain");
            assertThat(violation.subject()).isEqualTo("segment 3");
            assertThat(violation.found()).isEqualTo("missing");
        });
    }

    @Test
    void aSumThatItsSegmentsDoNotGiveIsNamed() {
        BookRows rows = closedBooks("audit-sums");
        assertThat(violations(rows)).isEmpty();
        Superuser.run("update usage_hour set gpu_milli_ms = gpu_milli_ms + 7 where tenant_id = 'audit-sums' "
                + "and class = 'reserved-idle' and hour_ms = " + (start + HOUR));
        Superuser.run("delete from usage_hour where tenant_id = 'audit-sums' and class = 'on-demand' and hour_ms = "
                + (start + 2 * HOUR));

        assertThat(violations(rows))
                .extracting(AuditApi.Violation::rule, AuditApi.Violation::subject)
                .containsExactly(
                        org.assertj.core.groups.Tuple.tuple("sums-equal-segments", rows.poolName() + " reserved-idle"),
                        org.assertj.core.groups.Tuple.tuple(
                                "sums-equal-segments",
                                rows.poolName() + " on-demand over-quota /research research-large ada"));
    }

    @Test
    void anAttemptThatWasNotMeteredIsNamed() {
        BookRows rows = closedBooks("audit-d");
        UUID live = rows.run("select id from attempt where tenant_id = $1 and state <> 'ended'", rows.tenant)
                .getFirst()
                .getUUID("id");
        rows.run(
                "update attempt set state = 'ended', outcome = 'succeeded', ended_at = clock_timestamp() where "
                        + "tenant_id = $1 and id = $2",
                rows.tenant,
                live);

        assertThat(violations(rows))
                .extracting(AuditApi.Violation::rule, AuditApi.Violation::subject)
                .contains(
                        org.assertj.core.groups.Tuple.tuple("freed-when-ended", live.toString()),
                        org.assertj.core.groups.Tuple.tuple("devices-freed-with-attempt", live.toString()));
    }

    @Test
    void whatIsMeteredThoughItMustBeOverIsNamedAndWhatCannotBeKnownIsAWarning() {
        BookRows rows = closedBooks("audit-overdue");
        UUID live = rows.run("select id from attempt where tenant_id = $1 and state <> 'ended'", rows.tenant)
                .getFirst()
                .getUUID("id");
        UUID node = rows.silentNode(Instant.now().toEpochMilli());
        rows.run("update node_contact set last_heard = lease_until - interval '35 seconds' where node_id = $1", node);
        rows.run("update allocation_device set node_id = $2 where attempt_id = $1", live, node);
        String nodeName =
                rows.run("select name from node where id = $1", node).getFirst().getString("name");
        rows.run(
                "update attempt set state = 'stopping', deadline_at = clock_timestamp() - interval '10 minutes' "
                        + "where id = $1",
                live);

        assertThat(violations(rows))
                .extracting(AuditApi.Violation::rule, AuditApi.Violation::subject, AuditApi.Violation::found)
                .containsExactly(org.assertj.core.groups.Tuple.tuple(
                        "stopped-by-its-deadline", live.toString(), "stopping on " + nodeName));

        rows.givenUp(node);
        rows.run(
                "update workload set set_aside_at = clock_timestamp(), set_aside_why = 'a test' where id = "
                        + "(select workload_id from attempt where id = $1)",
                live);
        AuditApi.View silent = audits.audit(new AuditApi.Request(new TenantId(rows.tenant), null, null));
        assertThat(silent.violations()).isEmpty();
        assertThat(silent.warnings())
                .extracting(AuditApi.Violation::rule)
                .containsExactlyInAnyOrder("stopped-by-its-deadline", "planned-with");

        rows.run(
                "insert into report (tenant_id, attempt_id, node_id, state, outcome, reported_at) values ($1, $2, "
                        + "$3, 'ended', 'succeeded', clock_timestamp() - interval '10 minutes')",
                rows.tenant,
                live,
                node);
        assertThat(violations(rows)).extracting(AuditApi.Violation::rule).containsExactly("reported-end-is-applied");
    }

    @Test
    void workThatIsMeteredAsEndedBeforeItsNodeSaidSoIsNamed() {
        BookRows rows = closedBooks("audit-ended");
        UUID live = rows.run("select id from attempt where tenant_id = $1 and state <> 'ended'", rows.tenant)
                .getFirst()
                .getUUID("id");
        long ended = Instant.now().toEpochMilli() - 2_000;
        UUID node = rows.silentNode(ended);
        rows.run("update allocation_device set node_id = $2 where attempt_id = $1", live, node);
        rows.workEnded(node, live, ended);
        rows.phase(ended + 1_000, live, "ended", ended);
        rows.freed(ended + 1_000, live);
        rows.givenUp(node);
        assertThat(violations(rows)).isEmpty();

        rows.run("update report set work_ended_at = work_ended_at + interval '500 ms' where attempt_id = $1", live);
        assertThat(violations(rows)).singleElement().satisfies(violation -> {
            assertThat(violation.rule()).isEqualTo("work-ended-when-told");
            assertThat(violation.subject()).isEqualTo(live.toString());
            assertThat(violation.expected()).isEqualTo(Long.toString(ended + 500));
            assertThat(violation.found()).isEqualTo(Long.toString(ended));
        });
    }

    @Test
    void anAuditEntryThatWasChangedIsNamed() {
        BookRows rows = closedBooks("audit-entries");
        rows.run(
                "insert into audit_entry (tenant_id, id, actor, actor_realm, action, resource) values ($1, $2, "
                        + "'ada', 'operator', 'things:create', 'things/1')",
                rows.tenant,
                io.quartermaster.platform.Ids.next());
        Awaitility.await()
                .atMost(Duration.ofSeconds(30))
                .until(() -> rows.number(
                                "select count(*) from audit_entry where tenant_id = $1 and seq is not null",
                                rows.tenant)
                        == 1);
        assertThat(violations(rows)).isEmpty();

        asOwner("update audit_entry set actor = 'nobody' where tenant_id = ?", rows.tenant);

        assertThat(violations(rows)).singleElement().satisfies(violation -> {
            assertThat(violation.rule()).isEqualTo("audit-entries-chain");
            assertThat(violation.found()).isEqualTo("altered");
        });
    }

    private ExportRequest export(long from, long to, String format, boolean provisional) {
        ExportRequest request = new ExportRequest();
        request.from = Instant.ofEpochMilli(from).toString();
        request.to = Instant.ofEpochMilli(to).toString();
        request.format = format;
        request.provisional = Boolean.toString(provisional);
        return request;
    }

    private static List<String> lines(Uni<UsageExport.PreparedExport> export) {
        Buffer all = export.onItem()
                .transformToMulti(UsageExport.PreparedExport::pieces)
                .collect()
                .in(Buffer::buffer, Buffer::appendBuffer)
                .await()
                .indefinitely();
        return Arrays.asList(all.toString().split("\r?\n"));
    }

    @Test
    void anExportHoldsEveryClosedRecordOnceAndSaysWhenHoursAreOpen() {
        BookRows rows = closedBooks("audit-e");
        TenantId tenant = new TenantId(rows.tenant);

        List<String> csv = lines(exports.prepareForTenant(tenant, export(start, start + 2 * HOUR, "csv", false)));
        List<String> all = lines(exports.prepareForTenants(
                java.util.Optional.of(tenant), export(start, start + 2 * HOUR, "jsonl", false)));
        List<String> open = lines(exports.prepareForTenant(tenant, export(start, start + 5 * HOUR, "csv", true)));

        assertThat(csv.getFirst()).startsWith("id,tenant,from,to,pool,class,gpus");
        assertThat(csv.size() - 1L)
                .isEqualTo(rows.number(
                        "select count(*) from segment where tenant_id = $1 and hour_ms <= $2",
                        rows.tenant,
                        start + 2 * HOUR));
        assertThat(all).hasSize(csv.size() - 1).allSatisfy(line -> assertThat(line)
                .contains("\"final\":true"));
        assertThat(open).containsAll(csv).anySatisfy(line -> assertThat(line).contains(",false,"));
        assertThatThrownBy(
                        () -> lines(exports.prepareForTenant(tenant, export(start, start + 50 * HOUR, "csv", false))))
                .isInstanceOf(ProblemException.class)
                .hasMessageContaining("hours-open");
        assertThatThrownBy(() -> lines(exports.prepareForTenant(tenant, export(start + 1, start + HOUR, "csv", false))))
                .isInstanceOf(ProblemException.class)
                .hasMessageContaining("full hour");
    }
}
