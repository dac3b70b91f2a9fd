package io.quartermaster.client.session;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.commands.PersonCommand;
import io.quartermaster.client.output.DocumentWriter;
import io.quartermaster.client.output.ExitStatus;
import io.quartermaster.client.output.TextTable;
import io.quartermaster.client.settings.ContextFile;
import io.quartermaster.client.settings.ServerContext;
import java.util.ArrayList;
import java.util.List;

/** A command that lists the contexts. */
abstract class ContextListing extends PersonCommand {

    ContextListing(ClientEnvironment environment) {
        super(environment);
    }

    final ExitStatus list() {
        ContextFile.Contexts contexts = contexts().read();
        List<JsonNode> items = new ArrayList<>();
        TextTable table = new TextTable(style(), "CURRENT", "NAME", "TENANT", "SERVER", "SIGNED IN");
        for (ServerContext context : contexts.sorted()) {
            boolean current = context.name().equals(contexts.current());
            boolean signedIn = tokens().find(context.server(), context.tenant()).isPresent();
            items.add(DocumentWriter.JSON
                    .createObjectNode()
                    .put("name", context.name())
                    .put("server", context.server().toString())
                    .put("tenant", context.tenant())
                    .put("current", current)
                    .put("signedIn", signedIn));
            table.add(
                    current ? "*" : " ",
                    context.name(),
                    context.tenant(),
                    context.server().toString(),
                    signedIn ? "yes" : "no");
        }
        printItems(items, "name", () -> {
            if (table.isEmpty()) {
                remark("No contexts. Add one with: " + called() + " context add NAME --server URL --tenant TENANT");
            } else {
                printTable(table);
            }
        });
        return ExitStatus.OK;
    }
}
