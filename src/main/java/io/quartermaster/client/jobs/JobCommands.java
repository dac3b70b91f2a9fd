package io.quartermaster.client.jobs;

import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.commands.CommandCatalog;
import picocli.CommandLine;

/** The commands of this package. */
public final class JobCommands {

    private JobCommands() {}

    public static void register(CommandCatalog catalog, ClientEnvironment environment) {
        catalog.register("queues", () -> new QueuesCommand(environment));
        catalog.register("try", () -> new TryCommand(environment));
        // Everything from the first word of the job's command on belongs to that command.
        catalog.registerLine("submit", () -> new CommandLine(new SubmitCommand(environment)).setStopAtPositional(true));
        catalog.register("clone", () -> new CloneCommand(environment));
        catalog.register("edit", () -> new EditCommand(environment));
        catalog.register("list", () -> new ListCommand(environment));
        catalog.register("top", () -> new TopCommand(environment));
        catalog.register("show", () -> new ShowCommand(environment));
        catalog.register("why", () -> new WhyCommand(environment));
        catalog.register("logs", () -> new LogsCommand(environment));
        catalog.register("wait", () -> new WaitCommand(environment));
        catalog.register("cancel", () -> new CancelCommand(environment));
        catalog.register("hold", () -> new HoldCommand(environment));
        catalog.register("release", () -> new ReleaseCommand(environment));
    }
}
