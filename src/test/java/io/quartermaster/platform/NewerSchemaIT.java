package io.quartermaster.platform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.exception.FlywayValidateException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A replica of the previous version starts on a schema that a newer version has migrated, as in a rolling upgrade or a
 * rollback.
 */
@QuarkusTest
class NewerSchemaIT {

    @Inject
    Flyway flyway;

    @AfterEach
    void forgetTheMigration() throws SQLException {
        run("delete from flyway_schema_history where description = 'of a newer version'");
    }

    @Test
    void aMigrationOfANewerVersionIsNoHindrance() throws SQLException {
        applied("9999");

        assertThatCode(flyway::validate).doesNotThrowAnyException();
        assertThat(flyway.migrate().migrationsExecuted).isZero();
    }

    @Test
    void aMigrationThatShouldBeKnownIsOne() throws SQLException {
        applied("1.5");

        assertThatThrownBy(flyway::validate)
                .isInstanceOf(FlywayValidateException.class)
                .hasMessageContaining("1.5");
    }

    private void applied(String version) throws SQLException {
        run("insert into flyway_schema_history (installed_rank, version, description, type, script, checksum, "
                + "installed_by,"
                + " execution_time, success) select max(installed_rank) + 1, '" + version
                + "', 'of a newer version', 'SQL', 'V__newer.sql', 1, current_user, 1, true from "
                + "flyway_schema_history");
    }

    private void run(String sql) throws SQLException {
        try (Connection connection = flyway.getConfiguration().getDataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
