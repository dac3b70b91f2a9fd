package io.quartermaster.client.rules;

import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.commands.CommandCatalog;

/** The commands of this package. */
public final class RuleCommands {

    private RuleCommands() {}

    public static void register(CommandCatalog catalog, ClientEnvironment environment) {
        catalog.register("get", () -> new GetCommand(environment));
        catalog.register("apply", () -> new ApplyCommand(environment));
        catalog.register("usage", () -> new UsageCommand(environment));
        catalog.register("share", () -> new ShareCommand(environment));
    }
}
