package io.quartermaster.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.access.audit.AuditChain;
import io.quartermaster.metering.BooksOf;
import io.quartermaster.platform.SystemDatabases;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.testing.UpgradedDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The upgrade of a database with the first released schema and rows in every table. Nothing is lost, tenants stay
 * isolated, the hash chains and the stored usage are correct, and a leader continues from the stored state.
 */
@QuarkusTest
class UpgradeIT {

    private static final List<String> TENANTS = List.of("acme", "globex", "initech", "umbrella");

    /** Every table of a tenant has rows that row-level security must hide from other tenants. */
    private static final String TENANT_TABLES = """
            select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid
                and a.attname = 'tenant_id' and not a.attisdropped
             where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace order by 1
            """;

    private static final String TABLES = """
            select relname from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace
               and relname <> 'flyway_schema_history' order by 1
            """;

    private static final String UNFORCED = """
            select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid
                and a.attname = 'tenant_id' and not a.attisdropped
             where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace and not (c.relrowsecurity
                 and c.relforcerowsecurity)
            """;

    @Test
    void aDatabaseOfTheFirstReleasedSchemaGoesOnAtTheNewest() throws SQLException {
        try (UpgradedDatabase upgraded = UpgradedDatabase.of("/db/v1.sql.gz")) {
            List<String> before = counts(upgraded);
            assertThat(before).isNotEmpty().noneMatch(count -> count.endsWith(" 0"));

            upgraded.migrate();

            assertThat(counts(upgraded)).containsAll(before);
            assertThat(upgraded.migrate()).isZero();
            assertThat(upgraded.isValidForSystemRole()).isTrue();
            tenantsAreKeptApart(upgraded, before);
            policiesAllowWhatTheyAllowed(upgraded);
            SystemDatabase database = SystemDatabases.on(upgraded.system());
            assertThat(TENANTS).allSatisfy(tenant -> {
                var broken = database.run(CellRows.TIMEOUT, tx -> AuditChain.verify(tx, new TenantId(tenant)));
                assertThat(broken).isEmpty();
            });
            assertThat(BooksOf.violations(database)).isEmpty();
            aLeaderGoesOn(database);
            assertThat(BooksOf.violations(database)).isEmpty();
        }
    }

    /** @param counts of the tables that existed before the upgrade, all of which have rows */
    private static void tenantsAreKeptApart(UpgradedDatabase upgraded, List<String> counts) throws SQLException {
        try (Connection owner = upgraded.owner();
                Connection request = upgraded.request()) {
            assertThat(strings(owner, UNFORCED)).isEmpty();
            for (String table : strings(owner, TENANT_TABLES)) {
                if (!strings(request, "select has_table_privilege(current_user, '" + table + "', 'select')")
                        .equals(List.of("t"))) {
                    continue;
                }
                assertThat(strings(request, "select count(*) from " + table))
                        .as("%s without a tenant", table)
                        .containsExactly("0");
                List<String> seen = new ArrayList<>();
                for (String tenant : TENANTS) {
                    strings(request, "select set_config('app.tenant', '" + tenant + "', false)");
                    List<String> owners = strings(request, "select distinct tenant_id from " + table);
                    assertThat(owners).as("%s as %s", table, tenant).isSubsetOf(tenant);
                    seen.addAll(owners);
                }
                strings(request, "select set_config('app.tenant', '', false)");
                if (counts.stream().anyMatch(count -> count.startsWith(table + " "))) {
                    assertThat(seen).as("%s of any tenant", table).isNotEmpty();
                }
            }
        }
    }

    /** Priority and non-preemptible workloads need a right now; earlier policies have all rights. */
    private static void policiesAllowWhatTheyAllowed(UpgradedDatabase upgraded) throws SQLException {
        try (Connection superuser = upgraded.superuser()) {
            assertThat(strings(superuser, "select distinct max_priority || ' ' || non_preemptible from policy"))
                    .containsExactly("1000 true");
        }
    }

    /**
     * The agent of the dump's node does not return: the workload there is lost and waits. A workload that waited and
     * could start does not start.
     */
    private static void aLeaderGoesOn(SystemDatabase database) {
        try (HandLedCell cell = HandLedCell.lead(database)) {
            cell.settle();
        }
        assertThat(ids(database, "select cast(id as text) as id from inbox")).isEmpty();
        assertThat(ids(
                        database,
                        "select cast(id as text) as id from workload where state in ('starting', "
                                + "'running', 'stopping')"))
                .isEmpty();
        assertThat(ids(
                        database,
                        "select cast(id as text) as id from workload where state = 'waiting' and reason_code is null"))
                .isEmpty();
    }

    private static List<String> ids(SystemDatabase database, String query) {
        return database.run(CellRows.TIMEOUT, tx -> {
            List<String> ids = new ArrayList<>();
            tx.run(query).forEach(row -> ids.add(row.getString("id")));
            return ids;
        });
    }

    private static List<String> counts(UpgradedDatabase upgraded) throws SQLException {
        try (Connection superuser = upgraded.superuser()) {
            List<String> counts = new ArrayList<>();
            for (String table : strings(superuser, TABLES)) {
                counts.addAll(strings(superuser, "select '" + table + " ' || count(*) from " + table));
            }
            return counts;
        }
    }

    private static List<String> strings(Connection connection, String query) throws SQLException {
        List<String> found = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            while (rows.next()) {
                found.add(rows.getString(1));
            }
        }
        return found;
    }
}
