package io.quartermaster.cli;

import io.quartermaster.agent.AgentCommand;
import io.quartermaster.agent.protocol.ProgramVersion;
import io.quartermaster.client.ClientProgram;
import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.commands.WrongUse;
import io.quartermaster.launch.CommandLineFactory;
import io.quartermaster.launch.MigrateCommand;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code qm}: prints its commands. */
@Command(
        name = "qm",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        synopsisSubcommandLabel = "COMMAND",
        description = "Shares GPUs fairly among many tenants and accounts for their use.",
        subcommands = {
            UpCommand.class,
            DownCommand.class,
            StatusCommand.class,
            ResetCommand.class,
            DemoCommand.class,
            AuditCommand.class,
            MigrateCommand.class,
            LoadCommand.class,
            SimulateCommand.class,
            AgentCommand.class,
            HelpCommand.class
        },
        footer = {
            "",
            "In a checkout also: qm dev reloads the service from its sources, and qm test runs the tests. qm bench"
                    + " measures the engine, qm campaign makes long runs, and qm fmt formats the code.",
            "Add --help to a command to see its options."
        })
public final class QuartermasterCommand implements Runnable {

    @Spec
    private CommandSpec spec;

    /** Set by picocli before {@link #run}. */
    @SuppressWarnings("NullAway.Init")
    public QuartermasterCommand() {}

    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getOut());
    }

    /** Runs the command that the arguments name and returns its exit code. */
    public static int execute(String... arguments) {
        return commandLine().execute(arguments);
    }

    /** The parser of all commands, as {@link #execute} uses it. */
    static CommandLine commandLine() {
        CommandLine commandLine =
                CommandLineFactory.reportingStartFailures(new CommandLine(new QuartermasterCommand()));
        ClientProgram.catalog(ClientEnvironment.ofProcess()).addTo(commandLine);
        return commandLine.setExpandAtFiles(false).setParameterExceptionHandler(new WrongUse());
    }

    /** Offers these commands to {@link io.quartermaster.Main}; found by its name in {@code META-INF/services}. */
    public static final class Factory implements CommandLineFactory {

        /** Made by the service loader. */
        public Factory() {}

        @Override
        public CommandLine create() {
            return commandLine();
        }
    }
}
