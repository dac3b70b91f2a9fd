package io.quartermaster.embedded;

import io.quartermaster.launch.Component;
import io.quartermaster.launch.StartFailure;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Keycloak on loopback, with its database in the embedded PostgreSQL. */
public final class EmbeddedKeycloak implements EmbeddedProgram {

    static final String ADMIN = "admin";
    static final String ADMIN_SECRET = "keycloak.admin";

    /** The first start creates its schema, which takes a minute on a busy machine. */
    private static final Duration START_TIMEOUT = Duration.ofMinutes(5);

    private static final Duration POLL_INTERVAL = Duration.ofMillis(100);

    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(20);
    private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(2);

    private final ManagedProcess managedProcess;

    private EmbeddedKeycloak(ManagedProcess managedProcess) {
        this.managedProcess = managedProcess;
    }

    static EmbeddedKeycloak start(EmbeddedConfig config, Secrets secrets) {
        DataFolder folder = config.folder();
        int port = config.keycloakPort();
        Path log = folder.log("keycloak");
        ManagedProcess.Spec spec = spec(config, secrets);
        Optional<ManagedProcess> running = ManagedProcess.adopt(spec);
        ManagedProcess managedProcess;
        if (running.isPresent()) {
            managedProcess = running.get();
        } else {
            endLeftover(folder);
            Ports.requireFree(port, Component.KEYCLOAK.title(), Component.KEYCLOAK.portSettings());
            new KeycloakFolder(config.keycloakHome()).prepare(config.progress(), log);
            managedProcess = ManagedProcess.start(spec);
        }
        EmbeddedKeycloak keycloak = new EmbeddedKeycloak(managedProcess);
        try {
            keycloak.awaitReady(port, log);
            return keycloak;
        } catch (RuntimeException e) {
            keycloak.close();
            throw e;
        }
    }

    /** The only address to use: tokens name the requested address as their issuer. */
    static String url(int port) {
        return "http://127.0.0.1:" + port;
    }

    /** Ends the Keycloak that a killed service left running in that folder. */
    static void endLeftover(DataFolder folder) {
        ManagedProcess.endRecorded(
                Component.KEYCLOAK.title(),
                folder.pidFile(Component.KEYCLOAK.program()),
                StopSignal.TERMINATE,
                STOP_TIMEOUT);
    }

    @Override
    public ManagedProcess process() {
        return managedProcess;
    }

    @Override
    public void close() {
        managedProcess.stop(StopSignal.TERMINATE, STOP_TIMEOUT);
    }

    private static ManagedProcess.Spec spec(EmbeddedConfig config, Secrets secrets) {
        DataFolder folder = config.folder();
        List<String> command = List.of(
                "/bin/sh",
                config.keycloakHome().resolve("bin/kc.sh").toString(),
                "start",
                "--optimized",
                "--http-enabled=true",
                "--http-host=127.0.0.1",
                "--http-port=" + config.keycloakPort(),
                "--hostname=" + url(config.keycloakPort()),
                "--cache=local",
                "--db-pool-initial-size=1",
                "--db-pool-min-size=1",
                "--db-pool-max-size=20",
                "--log-level=info");
        Map<String, String> environment = Map.of(
                "JAVA_HOME",
                System.getProperty("java.home"),
                "KC_DB_URL",
                "jdbc:postgresql://127.0.0.1:" + config.postgresPort() + "/" + DatabaseRoles.KEYCLOAK,
                "KC_DB_USERNAME",
                DatabaseRoles.KEYCLOAK,
                "KC_DB_PASSWORD",
                new DatabaseRoles(secrets).password(DatabaseRoles.KEYCLOAK),
                "KC_BOOTSTRAP_ADMIN_USERNAME",
                ADMIN,
                "KC_BOOTSTRAP_ADMIN_PASSWORD",
                secrets.password(ADMIN_SECRET),
                // For a realm per tenant and some logins, a small heap and the quick compiler suffice and start sooner.
                "JAVA_OPTS_KC_HEAP",
                "-Xms64m -Xmx320m",
                "JAVA_OPTS_APPEND",
                "-XX:TieredStopAtLevel=1 -XX:-UseG1GC -XX:+UseSerialGC");
        return new ManagedProcess.Spec(
                Component.KEYCLOAK.title(),
                command,
                environment,
                folder.path(),
                folder.log("keycloak"),
                folder.pidFile(Component.KEYCLOAK.program()),
                KeycloakFolder.OPTIONS.toString() + config.postgresPort());
    }

    private void awaitReady(int port, Path log) {
        long end = System.nanoTime() + START_TIMEOUT.toNanos();
        URI realm = URI.create(url(port) + "/realms/master");
        try (HttpClient client =
                HttpClient.newBuilder().connectTimeout(ANSWER_TIMEOUT).build()) {
            do {
                if (answers(client, realm)) {
                    return;
                }
            } while (System.nanoTime() < end && !managedProcess.endsWithin(POLL_INTERVAL));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        throw new StartFailure("Keycloak " + (managedProcess.isAlive() ? "does not answer" : "ended while starting")
                + "; see " + log + ".");
    }

    private static boolean answers(HttpClient client, URI realm) throws InterruptedException {
        try {
            return client.send(
                                    HttpRequest.newBuilder(realm)
                                            .timeout(ANSWER_TIMEOUT)
                                            .build(),
                                    HttpResponse.BodyHandlers.discarding())
                            .statusCode()
                    == 200;
        } catch (IOException notYet) {
            return false;
        }
    }
}
