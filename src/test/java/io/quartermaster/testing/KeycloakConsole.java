package io.quartermaster.testing;

import static io.restassured.RestAssured.given;

import io.restassured.http.ContentType;
import io.restassured.specification.RequestSpecification;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.config.ConfigProvider;

/**
 * Direct access to the real Keycloak of the tests: to its administration, and to its process, which a test can suspend.
 */
public final class KeycloakConsole {

    private KeycloakConsole() {}

    /** A request as Keycloak's own administrator, to a path such as {@code /admin/realms/acme}. */
    public static RequestSpecification admin() {
        return given().baseUri(Identity.url())
                .port(-1)
                .auth()
                .oauth2(adminToken())
                .contentType(ContentType.JSON);
    }

    public static String adminToken() {
        return given().baseUri(Identity.url())
                .port(-1)
                .formParams(Map.of(
                        "grant_type",
                        "password",
                        "client_id",
                        "admin-cli",
                        "username",
                        setting("quartermaster.identity.admin-username"),
                        "password",
                        setting("quartermaster.identity.admin-password")))
                .post("/realms/master/protocol/openid-connect/token")
                .then()
                .statusCode(200)
                .extract()
                .path("access_token");
    }

    /** Suspends Keycloak's processes: its socket still accepts connections, but no request is answered. */
    public static Hang hang() {
        Hang hang = new Hang(processes());
        hang.signal("STOP");
        return hang;
    }

    /** A Keycloak that does not answer, until this is closed. */
    public static final class Hang implements AutoCloseable {

        private final List<Long> processes;

        private Hang(List<Long> processes) {
            if (processes.isEmpty()) {
                throw new IllegalStateException("Keycloak's process was not found");
            }
            this.processes = processes;
        }

        @Override
        public void close() {
            signal("CONT");
        }

        private void signal(String name) {
            try {
                for (long process : processes) {
                    new ProcessBuilder("kill", "-" + name, Long.toString(process))
                            .inheritIO()
                            .start()
                            .waitFor();
                }
            } catch (IOException e) {
                throw new IllegalStateException(e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(e);
            }
        }
    }

    private static List<Long> processes() {
        String port = "--http-port=" + URI.create(Identity.url()).getPort();
        return ProcessHandle.allProcesses()
                .filter(process -> process.info()
                        .arguments()
                        .map(List::of)
                        .orElse(List.of())
                        .contains(port))
                .map(ProcessHandle::pid)
                .toList();
    }

    private static String setting(String name) {
        return ConfigProvider.getConfig().getValue(name, String.class);
    }
}
