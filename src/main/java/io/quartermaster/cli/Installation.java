package io.quartermaster.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The location of the program, and the command that starts it again. */
final class Installation {

    private Installation() {}

    /** The folder of the launcher, which the launcher sets; otherwise the current folder. */
    static Path home() {
        return Path.of(System.getProperty("qm.home", ".")).toAbsolutePath().normalize();
    }

    /** The name by which the launcher was called, such as {@code ./qm}, for messages. */
    static String command() {
        return System.getProperty("qm.command", "qm");
    }

    /** The Keycloak distribution that the build unpacked. */
    static Path keycloakHome() {
        String given = System.getenv("QM_KEYCLOAK_HOME");
        return given == null || given.isEmpty()
                ? home().resolve("target/keycloak")
                : Path.of(given).toAbsolutePath();
    }

    /** The command that starts this program with these options of the JVM, up to its own arguments. */
    static List<String> launch(List<String> jvmOptions) {
        return java(jvmOptions, jar());
    }

    /** The agent, with these options of the JVM, up to its own arguments. */
    static List<String> launchAgent(List<String> jvmOptions) {
        return java(jvmOptions, home().resolve("target/agent/quartermaster-agent.jar"));
    }

    private static List<String> java(List<String> jvmOptions, Path jar) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(jvmOptions);
        command.addAll(List.of("-Dqm.home=" + home(), "-jar", jar.toString()));
        return command;
    }

    private static Path jar() {
        @Nullable String jar = System.getProperty("qm.jar");
        return jar == null
                ? home().resolve("target/quarkus-app/quarkus-run.jar")
                : Path.of(jar).toAbsolutePath();
    }
}
