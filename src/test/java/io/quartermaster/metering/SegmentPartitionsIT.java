package io.quartermaster.metering;

import static io.quartermaster.metering.BookRows.HOUR;
import static io.quartermaster.metering.BookRows.MINUTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.metering.audit.AuditApi;
import io.quartermaster.metering.audit.AuditService;
import io.quartermaster.platform.SystemDatabases;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.testing.UpgradedDatabase;
import jakarta.inject.Inject;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Segments of the table that became the first partition, and of the month after it. The database was upgraded from the
 * first released schema. The same keys, chain, isolation and rights hold on both.
 */
@QuarkusTest
class SegmentPartitionsIT {

    private static final String TENANT = "partitions-a";

    private static UpgradedDatabase upgraded;
    private static Connection superuser;
    private static SystemDatabase database;

    /** Where the first partition ends and that of a month begins. */
    private static long bound;

    private static List<String> partitions = List.of();

    @Inject
    MeteringConfig config;

    @BeforeAll
    static void closeHoursAroundTheBound() throws SQLException {
        upgraded = UpgradedDatabase.of("/db/v1.sql.gz");
        upgraded.migrate();
        superuser = upgraded.superuser();
        database = SystemDatabases.on(upgraded.system());
        bound = Long.parseLong(text("select (extract(epoch from begin_at) * 1000)::bigint from segment_months")
                .getFirst());
        // Of the dump's tenants no hour is due, and none of its nodes is waited for.
        run("insert into closed_hour (tenant_id, hour_ms, through_seq, records, last_hash, closed_at) select id, "
                + (bound + 20 * HOUR) + ", 0, 0, '', now() from tenant");
        run("update node_contact set lost_at = clock_timestamp() where lost_at is null");

        BookRows rows = new BookRows(database, TENANT);
        rows.reserved(bound - 2 * HOUR, 4);
        rows.policyReserved(bound - 2 * HOUR, 2);
        UUID attempt = rows.allocated(bound - 90 * MINUTE, 6);
        rows.phase(bound - 80 * MINUTE, attempt, "running", bound - 80 * MINUTE);
        rows.freed(bound + 90 * MINUTE, attempt);
        run("update cell set stamp = to_timestamp(" + (bound + 2 * HOUR) / 1000 + ")");
    }

    @AfterAll
    static void drop() throws SQLException {
        superuser.close();
        upgraded.close();
    }

    private static void run(String sql) throws SQLException {
        try (Statement statement = superuser.createStatement()) {
            statement.execute(sql);
        }
    }

    private static List<String> text(String sql) throws SQLException {
        return text(superuser, sql);
    }

    private static List<String> text(Connection connection, String sql) throws SQLException {
        List<String> found = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            while (rows.next()) {
                found.add(rows.getString(1));
            }
        }
        return found;
    }

    @SuppressWarnings("NullAway") // an audit on request uses no operations
    private List<String> violations() {
        AuditService audits = new AuditService(database, null, config);
        // The hours lie ahead, so the audit does not end now.
        Instant end = Instant.ofEpochMilli(bound + 2 * HOUR);
        return audits.audit(new AuditApi.Request(new TenantId(TENANT), null, end)).violations().stream()
                .map(AuditApi.Violation::toString)
                .toList();
    }

    private HourCloser closing() {
        return new HourCloser(config, database, new LedgerLag(config, database, new SimpleMeterRegistry()));
    }

    private void closed() throws SQLException {
        if (partitions.isEmpty()) {
            assertThat(closing().closeDue()).isEqualTo(4);
            partitions = text("select distinct tableoid::regclass::text from segment where tenant_id = '" + TENANT
                    + "' order by 1");
        }
        assertThat(partitions).hasSize(2).contains("segment_first");
    }

    @Test
    void theChainGoesOnInTheNextPartitionAndAnAuditFindsAChangeInEach() throws SQLException {
        closed();
        assertThat(text("select sum(gpu_milli * (to_ms - from_ms)) from segment where tenant_id = '" + TENANT
                        + "' and allocation_id is not null"))
                .containsExactly(Long.toString(6_000 * 180 * MINUTE));
        assertThat(violations()).isEmpty();
        for (String partition : partitions) {
            String row = " where seq = (select min(seq) from " + partition + " where tenant_id = '" + TENANT
                    + "') and tenant_id = '" + TENANT + "'";
            run("update segment set gpu_milli = gpu_milli + 1" + row);
            assertThat(violations()).as(partition).isNotEmpty();
            run("update segment set gpu_milli = gpu_milli - 1" + row);
        }
        assertThat(violations()).isEmpty();
    }

    @Test
    void keysHoldInEachPartition() throws SQLException {
        closed();
        for (String partition : partitions) {
            String copy = "insert into segment select (jsonb_populate_record(s, '%s')).* from segment s where tenant_id"
                    + " = '" + TENANT + "' and tableoid = '" + partition + "'::regclass limit 1";
            assertThatThrownBy(() -> run(copy.formatted("{\"seq\": 1000001}"))).hasMessageContaining("tenant_id, id");
            assertThatThrownBy(() -> run(copy.formatted("{\"id\": \"" + UUID.randomUUID() + "\"}")))
                    .hasMessageContaining("tenant_id, seq");
            long otherHour = partition.equals("segment_first") ? bound - 100 * HOUR : bound + 100 * HOUR;
            assertThatThrownBy(() -> run(copy.formatted("{\"seq\": 1000001, \"id\": \"" + UUID.randomUUID()
                            + "\", \"hour_ms\": " + otherHour + "}")))
                    .hasMessageContaining("is not closed");
            assertThatThrownBy(() -> run("delete from closed_hour where tenant_id = '" + TENANT + "' and hour_ms = "
                            + "(select max(hour_ms) from " + partition + ")"))
                    .hasMessageContaining("cannot be removed");
        }
    }

    @Test
    void aTenantSeesItsOwnSegmentsOfBothAndNobodyNamesAPartition() throws SQLException {
        closed();
        String everywhere = "select distinct tableoid::regclass::text from segment order by 1";
        try (Connection request = upgraded.request()) {
            assertThat(text(request, everywhere)).isEmpty();
            text(request, "select set_config('app.tenant', '" + TENANT + "', false)");
            assertThat(text(request, everywhere)).isEqualTo(partitions);
            assertThat(text(request, "select distinct tenant_id from segment")).containsExactly(TENANT);
            text(request, "select set_config('app.tenant', 'acme', false)");
            assertThat(text(request, "select distinct tenant_id from segment")).containsExactly("acme");
            for (String partition : partitions) {
                assertThatThrownBy(() -> text(request, "select count(*) from " + partition))
                        .hasMessageContaining("permission denied");
            }
            assertThatThrownBy(() -> text(request, "select make_segment_partitions()"))
                    .hasMessageContaining("permission denied");
        }
        for (String partition : partitions) {
            for (String refused : List.of(
                    "select count(*) from " + partition,
                    "insert into " + partition + " select * from segment",
                    "update segment set seq = seq where tenant_id = '" + TENANT + "'",
                    "delete from segment where tenant_id = '" + TENANT + "'")) {
                assertThatThrownBy(() -> database.run(config.statementTimeout(), tx -> tx.run(refused)))
                        .as(refused)
                        .hasMessageContaining("permission denied");
            }
        }
    }

    @Test
    void closingContinuesWhileNoMonthCanBeMade() throws SQLException {
        closed();
        run("alter function make_segment_partitions() rename to make_no_partitions");
        try {
            assertThat(closing().closeDue()).isZero();
        } finally {
            run("alter function make_no_partitions() rename to make_segment_partitions");
        }
    }

    @Test
    void noFunctionLooksForTablesAmongTemporaryOnesFirst() throws SQLException {
        assertThat(text(
                        "select proname from pg_proc p where pronamespace = 'public'::regnamespace and (prosecdef or prorettype"
                                + " = 'trigger'::regtype) and not exists (select 1 from unnest(proconfig) c where c like"
                                + " 'search_path=%pg_temp')"))
                .isEmpty();
    }

    @Test
    void theServiceMakesTheMonthsThatAreMissing() throws SQLException {
        closed();
        assertThat(made()).isZero();
        String month = monthPartition();
        run("create table kept as select * from " + month);
        run("drop table " + month);
        assertThatThrownBy(() -> run("insert into segment select * from kept")).hasMessageContaining("no partition");
        assertThat(made()).isEqualTo(1);
        run("insert into segment select * from kept");
        assertThat(violations()).isEmpty();
        run("drop table kept");
    }

    @Test
    void aMonthThatWasDetachedIsAttachedAgain() throws SQLException {
        closed();
        String month = monthPartition();
        String count = "select count(*) from segment where tenant_id = '" + TENANT + "'";
        List<String> before = text(count);
        run("alter table segment detach partition " + month);
        run("grant select on " + month + " to public");
        run("alter table " + month + " no force row level security");
        assertThat(violations()).isNotEmpty();
        assertThat(text(count)).isNotEqualTo(before);

        assertThat(attached()).isEqualTo(1);

        assertThat(text(count)).isEqualTo(before);
        assertThat(violations()).isEmpty();
        assertThat(attached()).isZero();
        try (Connection request = upgraded.request()) {
            assertThatThrownBy(() -> text(request, "select count(*) from " + month))
                    .hasMessageContaining("permission denied");
        }
        assertThat(text("select relforcerowsecurity::text from pg_class where relname = '" + month + "'"))
                .containsExactly("true");
    }

    @Test
    void aTableOfAnotherOwnerIsNotAttached() throws SQLException {
        closed();
        String month = monthPartition();
        run("alter table segment detach partition " + month);
        List<String> owner =
                text("select pg_get_userbyid(relowner)::text from pg_class where relname = '" + month + "'");
        run("alter table " + month + " owner to postgres");
        try {
            assertThat(attached()).isZero();
            assertThat(text("select missing_segment_months()")).containsExactly(month);
        } finally {
            run("alter table " + month + " owner to " + owner.getFirst());
            assertThat(attached()).isEqualTo(1);
        }
        assertThat(violations()).isEmpty();
    }

    @Test
    void aMonthGetsTheColumnsAndKeysThatItLacks() throws SQLException {
        closed();
        String month = monthPartition();
        run("alter table segment detach partition " + month);
        run("alter table " + month + " drop column labels");
        run("create table restored (like " + month + " including defaults including constraints)");
        run("insert into restored select * from " + month);
        run("drop table " + month);
        run("alter table restored owner to "
                + text("select pg_get_userbyid(relowner)::text from pg_class where oid = 'segment'::regclass")
                        .getFirst());
        run("alter table restored rename to " + month);

        assertThat(attached()).isEqualTo(1);

        assertThat(violations()).isEmpty();
        String copy = "insert into segment select (jsonb_populate_record(s, '%s')).* from segment s where tenant_id"
                + " = '" + TENANT + "' and tableoid = '" + month + "'::regclass limit 1";
        assertThatThrownBy(() -> run(copy.formatted("{\"seq\": 1000001}"))).hasMessageContaining("tenant_id, id");
        assertThatThrownBy(() -> run(copy.formatted("{\"id\": \"" + UUID.randomUUID() + "\"}")))
                .hasMessageContaining("tenant_id, seq");
        assertThat(text("select indexdef from pg_indexes where tablename = '" + month + "'"))
                .anySatisfy(index -> assertThat(index).endsWith("(tenant_id, hour_ms)"));
    }

    @Test
    void aMonthThatFailsDoesNotKeepOthersFromBeingMade() throws SQLException {
        closed();
        String month = monthPartition();
        run("create table kept as select * from " + month);
        run("drop table " + month);
        // The rows of these months are in the first partition, so they cannot have one of their own.
        run("update segment_months set begin_at = begin_at - interval '5 months'");
        SimpleMeterRegistry metrics = new SimpleMeterRegistry();
        HourCloser closer = new HourCloser(config, database, new LedgerLag(config, database, metrics));
        try {
            assertThat(made()).isEqualTo(1);
            run("insert into segment select * from kept");
            closer.attachMonth();
            assertThat(text("select missing_segment_months()")).hasSize(5).doesNotContain(month);
            assertThat(metrics.get("quartermaster.ledger.missing.months")
                            .gauge()
                            .value())
                    .isEqualTo(5);
        } finally {
            run("update segment_months set begin_at = begin_at + interval '5 months'");
        }
        closer.attachMonth();
        assertThat(metrics.get("quartermaster.ledger.missing.months").gauge().value())
                .isZero();
        run("drop table kept");
        assertThat(violations()).isEmpty();
    }

    private static String monthPartition() {
        return partitions.stream()
                .filter(partition -> !partition.equals("segment_first"))
                .findFirst()
                .orElseThrow();
    }

    private int made() {
        return number("select make_segment_partitions() as number");
    }

    private int attached() {
        return number("select attach_segment_months() as number");
    }

    private int number(String sql) {
        return database.run(config.statementTimeout(), tx -> tx.run(sql))
                .iterator()
                .next()
                .getInteger("number");
    }
}
