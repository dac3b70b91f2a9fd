package io.quartermaster.platform.operations;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.platform.Ids;
import io.quartermaster.platform.db.RetentionCleaner;
import io.quartermaster.platform.db.SystemDatabase;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Expired operations are deleted, except those that a repeated request may still continue. */
@QuarkusTest
class OperationRetentionIT {

    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final String TENANT = "old-operations";

    @Inject
    SystemDatabase database;

    @Inject
    RetentionCleaner cleaner;

    @Test
    void operationsThatAreLongOverAreForgottenButTheLastOfTheirKind() {
        UUID old = operation("provision-tenant", "succeeded", 91);
        UUID failed = operation("provision-tenant", "failed", 91);
        UUID young = operation("provision-tenant", "succeeded", 89);
        UUID only = operation("offboard-tenant", "succeeded", 400);

        cleaner.clean().await().atMost(PATIENCE);

        assertThat(isThere(old)).isFalse();
        assertThat(isThere(failed)).isFalse();
        assertThat(isThere(young)).isTrue();
        assertThat(isThere(only)).isTrue();
    }

    @Test
    void whatAnAuditFoundIsKeptForAYear() {
        UUID old = operation("audit-books", "succeeded", 366);
        UUID young = operation("audit-books", "succeeded", 364);
        operation("audit-books", "succeeded", 1);
        for (UUID audit : new UUID[] {old, young}) {
            run("insert into books_audit (id, found) values ($1, '{}')", Tuple.of(audit));
        }

        cleaner.clean().await().atMost(PATIENCE);

        assertThat(isThere(old)).isFalse();
        assertThat(isThere(young)).isTrue();
        assertThat(count("select count(*) from books_audit where id = $1", old)).isZero();
        assertThat(count("select count(*) from books_audit where id = $1", young))
                .isEqualTo(1);
    }

    private UUID operation(String kind, String state, int days) {
        UUID id = Ids.next();
        run(
                "insert into operation (id, tenant_id, kind, state, updated_at) values ($1, $2, $3, $4, "
                        + "clock_timestamp() - make_interval(days => $5))",
                Tuple.of(id, TENANT, kind, state, days));
        return id;
    }

    private boolean isThere(UUID id) {
        return count("select count(*) from operation where id = $1", id) == 1;
    }

    private void run(String sql, Tuple values) {
        database.on(connection -> connection.preparedQuery(sql).execute(values))
                .await()
                .atMost(PATIENCE);
    }

    private long count(String sql, UUID id) {
        return database.on(connection -> connection.preparedQuery(sql).execute(Tuple.of(id)))
                .map(rows -> rows.iterator().next().getLong(0))
                .await()
                .atMost(PATIENCE);
    }
}
