package io.quartermaster.client.session;

import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.commands.CommandCatalog;
import java.util.function.Supplier;
import picocli.CommandLine;

/** The commands of this package. */
public final class SessionCommands {

    private SessionCommands() {}

    public static void register(CommandCatalog catalog, ClientEnvironment environment) {
        catalog.registerLine("context", () -> new CommandLine(new ContextCommand(environment))
                .addSubcommand(new ContextCommand.AddContext(environment))
                .addSubcommand(new ContextCommand.UseContext(environment))
                .addSubcommand(new ContextCommand.ListContexts(environment))
                .addSubcommand(new ContextCommand.RemoveContext(environment)));
        catalog.register("login", () -> new LoginCommand(environment));
        catalog.register("logout", () -> new LogoutCommand(environment));
        catalog.register("whoami", () -> new WhoamiCommand(environment));
        catalog.register("token", () -> new TokenCommand(environment));
    }

    /**
     * Registers the commands that print completion scripts and write manual pages.
     *
     * @param whole makes the command line that the scripts complete and the pages describe
     */
    public static void registerCompletion(
            CommandCatalog catalog, ClientEnvironment environment, Supplier<CommandLine> whole) {
        catalog.register("completion", () -> new CompletionCommand(environment, whole));
        catalog.register("manual", () -> new ManualCommand(environment, whole));
    }
}
