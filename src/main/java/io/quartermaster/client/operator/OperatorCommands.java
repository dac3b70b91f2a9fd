package io.quartermaster.client.operator;

import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.commands.CommandCatalog;
import picocli.CommandLine;

/** The commands of this package. */
public final class OperatorCommands {

    private OperatorCommands() {}

    public static void register(CommandCatalog catalog, ClientEnvironment environment) {
        catalog.registerLine("tenants", () -> new CommandLine(new TenantsCommand(environment))
                .addSubcommand(new TenantsCommand.ApplyTenants(environment))
                .addSubcommand(new TenantsCommand.ListTenants(environment))
                .addSubcommand(new TenantsCommand.SuspendTenants(environment))
                .addSubcommand(new TenantsCommand.ResumeTenants(environment))
                .addSubcommand(new TenantsCommand.OffboardTenant(environment)));
        catalog.registerLine("nodes", () -> new CommandLine(new NodesCommand(environment))
                .addSubcommand(new NodesCommand.ListNodes(environment))
                .addSubcommand(new NodesCommand.CordonNodes(environment))
                .addSubcommand(new NodesCommand.UncordonNodes(environment))
                .addSubcommand(new DrainCommand(environment))
                .addSubcommand(new NodesCommand.IssueCredential(environment)));
        catalog.register("pools", () -> new PoolsCommand(environment));
        catalog.register("fleet", () -> new FleetCommand(environment));
        catalog.register("operations", () -> new OperationsCommand(environment));
        catalog.registerLine("quarantine", () -> new CommandLine(new QuarantineCommand(environment))
                .addSubcommand(new QuarantineCommand.ListEntries(environment))
                .addSubcommand(new QuarantineCommand.RetryEntries(environment))
                .addSubcommand(new QuarantineCommand.DropEntries(environment)));
    }
}
