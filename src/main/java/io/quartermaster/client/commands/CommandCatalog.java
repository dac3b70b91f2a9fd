package io.quartermaster.client.commands;

import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine;

/** The commands of people, in the order in which help lists them. */
public final class CommandCatalog {

    private CommandCatalog() {}

    /** Adds the commands to a command line. */
    public static void addTo(CommandLine root, ClientEnvironment environment) {
        Map<String, CommandLine> commands = new LinkedHashMap<>();
        add(commands, new ContextCommand(environment))
                .addSubcommand(new ContextCommand.AddContext(environment))
                .addSubcommand(new ContextCommand.UseContext(environment))
                .addSubcommand(new ContextCommand.ListContexts(environment))
                .addSubcommand(new ContextCommand.RemoveContext(environment));
        add(commands, new LoginCommand(environment));
        add(commands, new LogoutCommand(environment));
        add(commands, new WhoamiCommand(environment));
        add(commands, new QueuesCommand(environment));
        add(commands, new TryCommand(environment));
        // Everything from the first word of the job's command on belongs to that command.
        add(commands, new SubmitCommand(environment)).setStopAtPositional(true);
        add(commands, new CloneCommand(environment));
        add(commands, new EditCommand(environment));
        add(commands, new ListCommand(environment));
        add(commands, new TopCommand(environment));
        add(commands, new ShowCommand(environment));
        add(commands, new WhyCommand(environment));
        add(commands, new LogsCommand(environment));
        add(commands, new WaitCommand(environment));
        add(commands, new CancelCommand(environment));
        add(commands, new HoldCommand(environment));
        add(commands, new ReleaseCommand(environment));
        add(commands, new CompletionCommand(environment));
        commands.forEach((name, command) -> {
            command.setCaseInsensitiveEnumValuesAllowed(true);
            command.setUsageHelpAutoWidth(true);
            root.addSubcommand(name, command);
        });
    }

    private static CommandLine add(Map<String, CommandLine> commands, PersonCommand command) {
        CommandLine line = new CommandLine(command);
        commands.put(line.getCommandName(), line);
        return line;
    }
}
