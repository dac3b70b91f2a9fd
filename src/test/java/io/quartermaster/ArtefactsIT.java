package io.quartermaster;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.testing.OwnProcesses;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarFile;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Test;

/** The content of the agent's jar, and the commands of the whole program. */
@OwnProcesses
class ArtefactsIT {

    private static final Path AGENT = Path.of("target", "agent", "quartermaster-agent.jar");
    private static final Path PROGRAM = Path.of("target", "quarkus-app", "quarkus-run.jar");

    @Test
    void theJarOfTheAgentHoldsTheAgentAlone() throws IOException {
        try (JarFile jar = new JarFile(AGENT.toFile())) {
            List<String> names = jar.stream()
                    .filter(entry -> !entry.isDirectory())
                    .map(ZipEntry::getName)
                    .toList();
            String libraries = jar.getManifest().getMainAttributes().getValue("Class-Path");

            assertThat(names)
                    .contains("io/quartermaster/agent/AgentCommand.class")
                    .allMatch(name -> name.startsWith("io/quartermaster/agent/")
                            || name.startsWith("META-INF/")
                            || name.equals("quartermaster-version.properties"));
            assertThat(libraries.split(" "))
                    .hasSize(5)
                    .allMatch(library -> Files.isRegularFile(AGENT.resolveSibling(library)));
        }
    }

    @Test
    void theAgentStartsFromItsJar() throws Exception {
        Process agent = start(AGENT, "--version");
        String output = new String(agent.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(agent.waitFor()).as(output).isZero();
        assertThat(output).startsWith("Quartermaster ");
    }

    @Test
    void theWholeProgramHasTheCommandsForOneMachine() throws Exception {
        Process help = start(PROGRAM, "--help");
        String output = new String(help.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(help.waitFor()).as(output).isZero();
        assertThat(output).contains("  demo ", "  simulate ", "  migrate ");
    }

    private static Process start(Path jar, String... arguments) throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        List<String> command = new ArrayList<>(List.of(java, "-jar", jar.toString()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }
}
