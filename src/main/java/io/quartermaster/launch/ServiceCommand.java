package io.quartermaster.launch;

import io.quartermaster.agent.protocol.ProgramVersion;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The commands of an artefact that holds the service alone. */
@Command(
        name = "qm",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        synopsisSubcommandLabel = "COMMAND",
        description = "Shares GPUs fairly among many tenants and accounts for their use.",
        subcommands = {ServeCommand.class, MigrateCommand.class, HelpCommand.class},
        footer = {
            "",
            "This is the service alone. The agent has an archive of its own; a checkout has the commands for one machine."
        })
final class ServiceCommand implements Runnable {

    @Spec
    private CommandSpec spec;

    /** Set by picocli before {@link #run}. */
    @SuppressWarnings("NullAway.Init")
    ServiceCommand() {}

    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getOut());
    }

    static CommandLine commandLine() {
        return CommandLineFactory.reportingStartFailures(new CommandLine(new ServiceCommand()))
                .setExpandAtFiles(false);
    }
}
