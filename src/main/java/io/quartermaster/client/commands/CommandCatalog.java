package io.quartermaster.client.commands;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import picocli.CommandLine;

/** Commands by their names, in the order in which help lists them. */
public final class CommandCatalog {

    private final Map<String, Supplier<CommandLine>> commands = new LinkedHashMap<>();

    public CommandCatalog() {}

    /** Registers a command; {@code command} makes another object with each call. */
    public void register(String name, Supplier<PersonCommand> command) {
        registerLine(name, () -> new CommandLine(command.get()));
    }

    /** Registers a command with its parser. */
    public void registerLine(String name, Supplier<CommandLine> command) {
        commands.put(name, command);
    }

    /** Adds every command to a command line. */
    public void addTo(CommandLine root) {
        commands.forEach((name, command) -> add(root, name, command));
    }

    /**
     * Adds the one command with whose name the arguments begin, or every command. A command line with one command
     * starts in half of the time.
     */
    public void addTo(CommandLine root, List<String> arguments) {
        String name = arguments.isEmpty() ? "" : arguments.getFirst();
        Supplier<CommandLine> command = commands.get(name);
        if (command == null) {
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
