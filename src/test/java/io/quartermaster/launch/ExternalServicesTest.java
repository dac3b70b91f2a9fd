package io.quartermaster.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ExternalServicesTest {

    private static final Map<String, String> DATABASE = Map.of(
            "QM_DATABASE_URL",
            "jdbc:postgresql://db.example:5432/qm?sslmode=require",
            "QM_DATABASE_OWNER_USER",
            "o",
            "QM_DATABASE_OWNER_PASSWORD",
            "1",
            "QM_DATABASE_REQUEST_USER",
            "r",
            "QM_DATABASE_REQUEST_PASSWORD",
            "2",
            "QM_DATABASE_SYSTEM_USER",
            "s",
            "QM_DATABASE_SYSTEM_PASSWORD",
            "3");

    @Test
    void whatIsNotGivenIsEmbedded() {
        assertThat(ExternalServices.from(Map.of()).embedded())
                .containsExactlyInAnyOrder(Component.POSTGRES, Component.REDIS, Component.KEYCLOAK);
        assertThat(ExternalServices.from(DATABASE).embedded())
                .containsExactlyInAnyOrder(Component.REDIS, Component.KEYCLOAK);
    }

    @Test
    void theThreeRolesGoToTheirThreeDoors() {
        assertThat(ExternalServices.from(DATABASE).properties())
                .containsEntry("quarkus.datasource.reactive.url", "postgresql://db.example:5432/qm?sslmode=require")
                .containsEntry("quarkus.datasource.username", "r")
                .containsEntry("quarkus.datasource.system.username", "s")
                .containsEntry("quarkus.flyway.username", "o")
                .containsEntry("quarkus.flyway.placeholders.requestRole", "r");
    }

    @Test
    void withAllThreeGivenNothingIsEmbedded() {
        Map<String, String> environment = new HashMap<>(DATABASE);
        environment.put("QM_REDIS_URL", "redis://:secret@cache.example:6379");
        environment.put("QM_KEYCLOAK_URL", "https://id.example/");
        environment.put("QM_KEYCLOAK_ADMIN_USER", "admin");
        environment.put("QM_KEYCLOAK_ADMIN_PASSWORD", "x");

        ExternalServices externalServices = ExternalServices.from(environment);

        assertThat(externalServices.embedded()).isEmpty();
        assertThat(externalServices.addresses()).containsEntry(Component.REDIS, "redis://cache.example:6379");
        assertThat(externalServices.properties())
                .containsEntry("quartermaster.identity.keycloak-url", "https://id.example");
    }

    @Test
    void anAddressWithoutItsPasswordsIsRefusedByName() {
        assertThatThrownBy(() -> ExternalServices.from(Map.of("QM_DATABASE_URL", "postgresql://db.example/qm")))
                .isInstanceOf(StartFailure.class)
                .hasMessageContaining("QM_DATABASE_REQUEST_USER");
        assertThatThrownBy(() -> ExternalServices.from(Map.of("QM_DATABASE_URL", "mysql://db.example/qm")))
                .hasMessageContaining("postgresql://host:5432/quartermaster");
    }

    @Test
    void withoutTheOwnerTheSchemaIsComparedAndNotMigrated() {
        Map<String, String> environment = new HashMap<>(DATABASE);
        environment.remove("QM_DATABASE_OWNER_USER");
        environment.remove("QM_DATABASE_OWNER_PASSWORD");

        assertThat(ExternalServices.from(environment).properties())
                .containsEntry("quarkus.flyway.migrate-at-start", "false")
                .containsEntry("quarkus.flyway.validate-at-start", "true")
                .containsEntry("quarkus.flyway.username", "s");
        assertThat(ExternalServices.from(DATABASE).properties()).doesNotContainKey("quarkus.flyway.migrate-at-start");
    }

    @Test
    void halfAnOwnerIsRefused() {
        Map<String, String> environment = new HashMap<>(DATABASE);
        environment.remove("QM_DATABASE_OWNER_PASSWORD");

        assertThatThrownBy(() -> ExternalServices.from(environment)).hasMessageContaining("QM_DATABASE_OWNER_PASSWORD");
    }

    @Test
    void migrationsNeedTheOwnerAndTheNamesOfTheOthers() {
        Map<String, String> environment = new HashMap<>(DATABASE);
        environment.remove("QM_DATABASE_REQUEST_PASSWORD");
        environment.remove("QM_DATABASE_SYSTEM_PASSWORD");

        assertThat(ExternalServices.migrations(environment))
                .containsEntry("quarkus.flyway.username", "o")
                .containsEntry("quarkus.flyway.placeholders.requestRole", "r")
                .containsEntry("quarkus.datasource.jdbc.url", "jdbc:postgresql://db.example:5432/qm?sslmode=require");
        environment.remove("QM_DATABASE_SYSTEM_USER");
        assertThatThrownBy(() -> ExternalServices.migrations(environment))
                .hasMessageContaining("QM_DATABASE_SYSTEM_USER");
        assertThatThrownBy(() -> ExternalServices.migrations(Map.of())).hasMessageContaining("QM_DATABASE_URL");
    }
}
