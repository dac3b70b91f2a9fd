package io.quartermaster.embedded;

import io.quartermaster.launch.StartFailure;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The unpacked Keycloak distribution, which the build lays out. Keycloak itself is built once for the options below, so
 * that every start is quick. The marker names the options: a change of them triggers a new build.
 */
final class KeycloakFolder {

    static final List<String> OPTIONS = List.of(
            "--db=postgres", "--features-disabled=kerberos", "--health-enabled=false", "--metrics-enabled=false");

    private static final long BUILD_MINUTES = 10;

    private final Path home;

    KeycloakFolder(Path home) {
        this.home = home;
    }

    /** Builds Keycloak unless that is done; concurrent starts wait for each other. */
    void prepare(ProgressListener progressListener, Path log) {
        if (!Files.isRegularFile(home.resolve("bin/kc.sh"))) {
            throw new StartFailure("Keycloak is not in " + home
                    + ". Build the program again (./mvnw package), or set QM_KEYCLOAK_URL to an external Keycloak.");
        }
        Path marker = home.resolve("quartermaster.prepared");
        try (FileChannel channel = FileChannel.open(
                        home.resolve("quartermaster.lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock lock = channel.lock()) {
            if (lock.isValid()
                    && Files.exists(marker)
                    && Files.readString(marker).equals(OPTIONS.toString())) {
                return;
            }
            ProgressListener.Step step = progressListener.begin("Keycloak's own build (first start only)");
            build(log);
            Files.writeString(marker, OPTIONS.toString());
            step.done("prepared");
        } catch (IOException e) {
            throw new StartFailure("Cannot prepare Keycloak in " + home + ": " + e.getMessage(), e);
        }
    }

    private void build(Path log) throws IOException {
        List<String> command =
                new ArrayList<>(List.of("/bin/sh", home.resolve("bin/kc.sh").toString(), "build"));
        command.addAll(OPTIONS);
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(home.toFile())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        // The optimizing compiler would take half of the time of this short run.
        builder.environment().put("JAVA_OPTS_APPEND", "-XX:TieredStopAtLevel=1 -XX:-UseG1GC -XX:+UseSerialGC");
        Process process = builder.start();
        try {
            if (!process.waitFor(BUILD_MINUTES, TimeUnit.MINUTES) || process.exitValue() != 0) {
                throw new StartFailure("Keycloak could not be prepared; see " + log + ".");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StartFailure("Interrupted while Keycloak was prepared.", e);
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }
}
