package io.quartermaster.client;

import io.quartermaster.agent.protocol.ProgramVersion;
import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.commands.CommandCatalog;
import io.quartermaster.client.commands.WrongUse;
import io.quartermaster.client.jobs.JobCommands;
import io.quartermaster.client.operator.OperatorCommands;
import io.quartermaster.client.rules.RuleCommands;
import io.quartermaster.client.session.SessionCommands;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code qm} with the commands of people alone. */
@Command(
        name = "qm",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        synopsisSubcommandLabel = "COMMAND",
        description = "Submits and follows jobs on shared GPUs, and manages what they run on.",
        footer = {"%nAdd --help to a command to see its options and an example. Begin with: qm context add, qm login"})
public final class ClientProgram implements Runnable {

    @Spec
    private CommandSpec spec;

    /** Set by picocli before {@link #run}. */
    @SuppressWarnings("NullAway.Init")
    public ClientProgram() {}

    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getOut());
    }

    /** Runs the command that the arguments name, and ends the process with its exit code. */
    public static void main(String... arguments) {
        System.exit(
                commandLine(ClientEnvironment.ofProcess(), List.of(arguments)).execute(arguments));
    }

    /** The parser of all commands. */
    public static CommandLine commandLine(ClientEnvironment environment) {
        return commandLine(environment, List.of());
    }

    private static CommandLine commandLine(ClientEnvironment environment, List<String> arguments) {
        CommandLine root = new CommandLine(new ClientProgram());
        catalog(environment).addTo(root, arguments);
        root.addSubcommand("help", new HelpCommand());
        root.setUsageHelpAutoWidth(true);
        root.setParameterExceptionHandler(new WrongUse());
        // A word such as @all belongs to the job; it names no file of options.
        root.setExpandAtFiles(false);
        return root;
    }

    /** All commands of people. */
    public static CommandCatalog catalog(ClientEnvironment environment) {
        CommandCatalog catalog = new CommandCatalog();
        SessionCommands.register(catalog, environment);
        JobCommands.register(catalog, environment);
        RuleCommands.register(catalog, environment);
        OperatorCommands.register(catalog, environment);
        SessionCommands.registerCompletion(catalog, environment, () -> commandLine(environment));
        return catalog;
    }
}
