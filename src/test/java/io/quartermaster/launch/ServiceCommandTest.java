package io.quartermaster.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** The commands of the artefact that holds the service alone. */
class ServiceCommandTest {

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private final CommandLine commands =
            ServiceCommand.commandLine().setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));

    @Test
    void theServiceAloneHasItsOwnCommandsOnly() {
        assertThat(commands.getSubcommands().keySet()).containsExactlyInAnyOrder("up", "migrate", "help");
    }

    @Test
    void upNamesThePartsThatAreNotGiven() {
        assertThat(commands.execute("up")).isEqualTo(ExitCodes.CANNOT_START);
        assertThat(err.toString())
                .startsWith("qm: This program embeds no Keycloak, no PostgreSQL, no Redis. Set QM_DATABASE_URL");
    }

    @Test
    void aProgramWithMoreCommandsRegistersThem() {
        assertThat(CommandLineFactory.installed().create().getSubcommands()).containsKeys("demo", "simulate", "up");
    }
}
