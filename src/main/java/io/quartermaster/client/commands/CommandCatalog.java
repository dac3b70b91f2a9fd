package io.quartermaster.client.commands;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import picocli.CommandLine;

/** The commands of people, in the order in which help lists them. */
public final class CommandCatalog {

    private final Map<String, Supplier<CommandLine>> commands = new LinkedHashMap<>();

    public CommandCatalog(ClientEnvironment environment) {
        commands.put("context", () -> new CommandLine(new ContextCommand(environment))
                .addSubcommand(new ContextCommand.AddContext(environment))
                .addSubcommand(new ContextCommand.UseContext(environment))
                .addSubcommand(new ContextCommand.ListContexts(environment))
                .addSubcommand(new ContextCommand.RemoveContext(environment)));
        add(environment, "login", LoginCommand::new);
        add(environment, "logout", LogoutCommand::new);
        add(environment, "whoami", WhoamiCommand::new);
        add(environment, "queues", QueuesCommand::new);
        add(environment, "try", TryCommand::new);
        // Everything from the first word of the job's command on belongs to that command.
        commands.put("submit", () -> new CommandLine(new SubmitCommand(environment)).setStopAtPositional(true));
        add(environment, "clone", CloneCommand::new);
        add(environment, "edit", EditCommand::new);
        add(environment, "list", ListCommand::new);
        add(environment, "top", TopCommand::new);
        add(environment, "show", ShowCommand::new);
        add(environment, "why", WhyCommand::new);
        add(environment, "logs", LogsCommand::new);
        add(environment, "wait", WaitCommand::new);
        add(environment, "cancel", CancelCommand::new);
        add(environment, "hold", HoldCommand::new);
        add(environment, "release", ReleaseCommand::new);
        add(environment, CompletionCommand.NAME, CompletionCommand::new);
    }

    private void add(ClientEnvironment environment, String name, Function<ClientEnvironment, PersonCommand> command) {
        commands.put(name, () -> new CommandLine(command.apply(environment)));
    }

    /** Adds every command to a command line. */
    public void addTo(CommandLine root) {
        commands.forEach((name, command) -> add(root, name, command));
    }

    /**
     * Adds the commands that these arguments need: one if they begin with its name, else all. A command line with one
     * command starts in half of the time.
     */
    public void addTo(CommandLine root, List<String> arguments) {
        String name = arguments.isEmpty() ? "" : arguments.getFirst();
        Supplier<CommandLine> command = commands.get(name);
        if (command == null || name.equals(CompletionCommand.NAME)) {
            addTo(root);
        } else {
            add(root, name, command);
        }
    }

    private static void add(CommandLine root, String name, Supplier<CommandLine> command) {
        CommandLine line = command.get();
        line.setCaseInsensitiveEnumValuesAllowed(true);
        line.setUsageHelpAutoWidth(true);
        root.addSubcommand(name, line);
    }
}
