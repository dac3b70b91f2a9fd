package io.quartermaster.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class AgentCommandTest {
    private static final int WRONG_OPTION = 2;

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path folder;

    private final StringWriter err = new StringWriter();

    @BeforeEach
    void secret() throws IOException {
        Files.writeString(folder.resolve("secret"), "s\n");
    }

    @Test
    void saysWhichOptionIsMissing() {
        assertThat(run("--node=n1")).isEqualTo(WRONG_OPTION);
        assertThat(err.toString()).contains("Missing required options").contains("--server");
    }

    @Test
    void saysWhatAnAddressLooksLike() {
        assertThat(runOn("localhost:8080")).isEqualTo(WRONG_OPTION);
        assertThat(err.toString()).contains("--server is an address that begins with http:// or https://");
    }

    @Test
    void trustInTenantsMustComeWithNoIsolation() {
        assertThat(runOn("http://localhost:1", "--trust-tenants", "--isolation=os-user"))
                .isEqualTo(WRONG_OPTION);
        assertThat(err.toString()).contains("--trust-tenants only goes with --isolation none");
    }

    @Test
    void anIsolationThatDoesNotExistIsRefused() {
        assertThat(runOn("http://localhost:1", "--isolation=magic")).isEqualTo(WRONG_OPTION);
        assertThat(err.toString()).contains("--isolation is os-user or none, not 'magic'");
    }

    @Test
    void aSizeThatIsNoneIsRefused() {
        assertThat(runOn("http://localhost:1", "--isolation=none", "--simulated-gpus=1", "--simulated-memory=lots"))
                .isEqualTo(WRONG_OPTION);
        assertThat(err.toString()).contains("'lots' is not a size such as 80GiB");
    }

    @Test
    void readsSizes() {
        assertThat(AgentCommand.memoryMiB("80GiB")).isEqualTo(81_920);
        assertThat(AgentCommand.memoryMiB("512MiB")).isEqualTo(512);
        assertThatThrownBy(() -> AgentCommand.memoryMiB("80GB")).isInstanceOf(IllegalArgumentException.class);
    }

    private int runOn(String server, String... more) {
        List<String> arguments = new ArrayList<>(List.of(
                "--server=" + server,
                "--node=n1",
                "--token-url=http://localhost:1/token",
                "--client-id=node-n1",
                "--client-secret-file=" + folder.resolve("secret"),
                "--state-dir=" + folder.resolve("state")));
        arguments.addAll(List.of(more));
        return run(arguments.toArray(String[]::new));
    }

    private int run(String... arguments) {
        return new CommandLine(new AgentCommand()).setErr(new PrintWriter(err)).execute(arguments);
    }
}
