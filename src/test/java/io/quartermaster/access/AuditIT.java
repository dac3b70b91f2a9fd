package io.quartermaster.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.access.audit.AuditChain;
import io.quartermaster.access.audit.AuditLog;
import io.quartermaster.access.audit.AuditSealer;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemDatabase;
import io.vertx.mutiny.sqlclient.Row;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.inject.Inject;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.StreamSupport;
import org.eclipse.microprofile.config.ConfigProvider;
import org.junit.jupiter.api.Test;

@QuarkusTest
class AuditIT {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Caller OPERATOR = new Caller(
            new Realm.Operator(),
            "1",
            "someone",
            Set.of(Role.OPERATOR),
            Set.of(),
            Optional.empty(),
            Optional.empty(),
            "r-1");

    @Inject
    AuditLog log;

    @Inject
    AuditSealer sealer;

    @Inject
    SystemDatabase database;

    @Test
    void entriesAreChainedPerTenantAndAnAlteredOneShows() {
        TenantId a = new TenantId("chain-a");
        TenantId b = new TenantId("chain-b");
        for (int n = 0; n < 3; n++) {
            write(a, n);
            write(b, n);
        }

        sealer.sealAll().await().atMost(PATIENCE);
        write(a, 3);
        sealer.sealAll().await().atMost(PATIENCE);

        assertThat(broken(a)).isEmpty();
        assertThat(broken(b)).isEmpty();
        assertThat(entries(a)).extracting(row -> row.getLong("seq")).containsExactly(1L, 2L, 3L, 4L);
        asOwner("update audit_entry set actor = 'nobody' where tenant_id = 'chain-a' and seq = 2");
        assertThat(broken(a)).hasValueSatisfying(broken -> {
            assertThat(broken.number()).isEqualTo(2);
            assertThat(broken.fault()).isEqualTo(AuditChain.Fault.ALTERED);
        });
        assertThat(broken(b)).isEmpty();
        asOwner("delete from audit_entry where tenant_id = 'chain-b' and seq = 1");
        assertThat(broken(b)).hasValueSatisfying(broken -> {
            assertThat(broken.number()).isEqualTo(1);
            assertThat(broken.fault()).isEqualTo(AuditChain.Fault.MISSING);
        });
    }

    @Test
    void theSystemRoleCanNeitherChangeWhatAnEntrySaysNorDeleteIt() {
        TenantId tenant = new TenantId("audit-rights");
        write(tenant, 0);

        for (String sql : List.of(
                "update audit_entry set actor = 'nobody' where tenant_id = $1",
                "delete from audit_entry where tenant_id = $1")) {
            assertThatThrownBy(() -> database.run(PATIENCE, tx -> tx.run(sql, tenant.value())))
                    .hasMessageContaining("permission denied");
        }
    }

    private Optional<AuditChain.BrokenEntry> broken(TenantId tenant) {
        return database.run(PATIENCE, tx -> AuditChain.verify(tx, tenant));
    }

    /** Runs a statement as the owner, which no access right restricts. */
    private static void asOwner(String sql) {
        var config = ConfigProvider.getConfig();
        try (Connection connection = DriverManager.getConnection(
                        config.getValue("quarkus.datasource.jdbc.url", String.class),
                        config.getValue("quarkus.flyway.username", String.class),
                        config.getValue("quarkus.flyway.password", String.class));
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("alter table audit_entry no force row level security");
            assertThat(statement.executeUpdate(sql)).isEqualTo(1);
            statement.execute("alter table audit_entry force row level security");
            connection.commit();
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    private void write(TenantId tenant, int n) {
        database.in(connection -> log.record(
                        connection,
                        tenant,
                        OPERATOR,
                        new AuditLog.Change("things:create", "things/" + n, null, Map.of("n", n))))
                .await()
                .atMost(PATIENCE);
    }

    private List<Row> entries(TenantId tenant) {
        return database.on(connection -> connection
                        .preparedQuery("select seq, hash, " + AuditSealer.COLUMNS
                                + " from audit_entry where tenant_id = $1 order by seq")
                        .execute(Tuple.of(tenant.value())))
                .map(rows -> StreamSupport.stream(rows.spliterator(), false).toList())
                .await()
                .atMost(PATIENCE);
    }
}
