package io.quartermaster.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** {@code deploy/quartermaster-agent.service} has the settings on which the agent's guarantees depend. */
class UnitFileTest {
    private static final Path FILE = Path.of("deploy/quartermaster-agent.service");

    @Test
    void stoppingTheUnitLeavesTheWorkRunning() throws IOException {
        assertThat(section("Service")).containsEntry("KillMode", List.of("process"));
    }

    @Test
    void aJobsLackOfMemoryIsNotTheAgents() throws IOException {
        assertThat(section("Service")).containsEntry("OOMPolicy", List.of("continue"));
    }

    @Test
    void theAgentComesBackWhateverEndsIt() throws IOException {
        assertThat(section("Service")).containsEntry("Restart", List.of("always"));
        assertThat(section("Install")).containsEntry("WantedBy", List.of("multi-user.target"));
    }

    @Test
    void tenantsCanPassThroughTheStateFolderButNotReadIt() throws IOException {
        assertThat(section("Service"))
                .containsEntry("StateDirectory", List.of("quartermaster-agent"))
                .containsEntry("StateDirectoryMode", List.of("0711"))
                .containsEntry("UMask", List.of("0077"));
    }

    @Test
    void workCannotGainPrivilegesOrChangeTheMachine() throws IOException {
        assertThat(section("Service"))
                .containsEntry("NoNewPrivileges", List.of("yes"))
                .containsEntry("ProtectSystem", List.of("full"))
                .containsEntry("ProtectControlGroups", List.of("yes"))
                .containsEntry("ProtectKernelModules", List.of("yes"))
                .containsEntry("RestrictSUIDSGID", List.of("yes"));
    }

    @Test
    void nothingKeepsGpuProgramsFromRunning() throws IOException {
        assertThat(section("Service"))
                .doesNotContainKeys("PrivateDevices", "DeviceAllow", "MemoryDenyWriteExecute", "PrivateTmp");
    }

    @Test
    void theSecretIsACredentialAndNoArgument() throws IOException {
        String start = section("Service").getOrDefault("ExecStart", List.of()).getFirst();

        assertThat(section("Service"))
                .containsEntry("LoadCredential", List.of("client-secret:/etc/quartermaster/agent.secret"));
        assertThat(start).contains("--client-secret-file ${CREDENTIALS_DIRECTORY}/client-secret");
    }

    @Test
    void everyOptionItPassesIsOneOfTheAgents() throws IOException {
        String start = section("Service").getOrDefault("ExecStart", List.of()).getFirst();
        List<String> words = List.of(start.split("\\s+"));
        CommandLine command = new CommandLine(new AgentCommand());

        assertThat(words.subList(0, 2)).containsExactly("/opt/quartermaster/qm", "agent");
        assertThat(words.stream().filter(word -> word.startsWith("--")))
                .contains("--state-dir")
                .allSatisfy(word ->
                        assertThat(command.getCommandSpec().findOption(word)).isNotNull());
    }

    private static Map<String, List<String>> section(String name) throws IOException {
        Map<String, Map<String, List<String>>> sections = new LinkedHashMap<>();
        Map<String, List<String>> current = new LinkedHashMap<>();
        String text = Files.readString(FILE).replaceAll("\\\\\\n\\s*", "");
        for (String line : text.lines().map(String::strip).toList()) {
            if (line.isEmpty() || line.startsWith("#")) {
                continue;
            }
            if (line.startsWith("[")) {
                assertThat(line).endsWith("]");
                current = new LinkedHashMap<>();
                sections.put(line.substring(1, line.length() - 1), current);
            } else {
                String[] parts = line.split("=", 2);
                assertThat(parts).as(line).hasSize(2);
                current.computeIfAbsent(parts[0], key -> new ArrayList<>()).add(parts[1]);
            }
        }
        assertThat(sections).containsOnlyKeys("Unit", "Service", "Install");
        return sections.getOrDefault(name, Map.of());
    }
}
