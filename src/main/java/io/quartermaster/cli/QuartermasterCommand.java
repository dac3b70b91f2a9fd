package io.quartermaster.cli;

import io.quartermaster.agent.AgentCommand;
import io.quartermaster.agent.ProgramVersion;
import io.quartermaster.embedded.StartFailure;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code qm}: shows its commands. */
@Command(
        name = "qm",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        synopsisSubcommandLabel = "COMMAND",
        description = "Issues shared GPUs to many tenants fairly, and keeps the books.",
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
            "In a checkout also: qm test runs the tests, qm campaign makes long runs, qm fmt formats the code.",
            "Each command explains itself with --help."
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
        return new CommandLine(new QuartermasterCommand())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExecutionExceptionHandler((failure, command, result) -> {
                    if (failure instanceof StartFailure) {
                        command.getErr().println("qm: " + failure.getMessage());
                        return ExitCodes.CANNOT_START;
                    }
                    throw failure;
                });
    }
}
