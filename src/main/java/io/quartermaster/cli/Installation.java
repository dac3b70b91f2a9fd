package io.quartermaster.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Where the program lies and how it is started again. */
final class Installation {

    private Installation() {}

    /** The folder of the launcher, which names it; else where the command was given. */
    static Path home() {
        return Path.of(System.getProperty("qm.home", ".")).toAbsolutePath().normalize();
    }

    /** The Keycloak that the build laid out. */
    static Path keycloakHome() {
        String given = System.getenv("QM_KEYCLOAK_HOME");
        return given == null || given.isEmpty()
                ? home().resolve("target/keycloak")
                : Path.of(given).toAbsolutePath();
    }

    /** This program again, with these options of the JVM, up to its own arguments. */
    static List<String> launch(List<String> jvmOptions) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(jvmOptions);
        command.addAll(List.of("-Dqm.home=" + home(), "-jar", jar().toString()));
        return command;
    }

    private static Path jar() {
        @Nullable String jar = System.getProperty("qm.jar");
        return jar == null
                ? home().resolve("target/quarkus-app/quarkus-run.jar")
                : Path.of(jar).toAbsolutePath();
    }
}
