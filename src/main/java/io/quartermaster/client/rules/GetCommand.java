package io.quartermaster.client.rules;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.commands.PersonCommand;
import io.quartermaster.client.connection.ServiceConnection;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.DocumentWriter;
import io.quartermaster.client.output.ExitStatus;
import io.quartermaster.client.output.TextTable;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code qm get}: shows the rules of a tenant. */
@Command(
        name = "get",
        description = {
            "Shows the rules of the tenant: groups, profiles, policies, queues, access-rules, or pools.",
            "With --documents it prints them as documents for qm apply; all stands for every kind that has documents."
        },
        footer = {
            "%nExamples:%n",
            "  qm get policies",
            "  qm get policy vision -o yaml",
            "  qm get access-rules vision-two-gpus",
            "  qm get all --documents > rules.yaml"
        })
final class GetCommand extends PersonCommand {

    private static final String ALL = "all";

    @Parameters(
            index = "0",
            paramLabel = "KIND",
            description = "groups, profiles, policies, queues, access-rules, pools, or all. The singular is the same")
    private String kind = "";

    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "NAME",
            description = "Name of one object; of access rules: of their queue")
    private @Nullable String name;

    @Option(names = "--documents", description = "Print documents for qm apply")
    private boolean documents;

    GetCommand(ClientEnvironment environment) {
        super(environment);
    }

    @Override
    protected ExitStatus run() {
        if (kind.equals(ALL) && (!documents || name != null)) {
            throw CommandFailure.usage("all is a kind for --documents, without a name");
        }
        List<RuleTable> tables = kind.equals(ALL)
                ? RuleTable.withDocuments()
                : List.of(RuleTable.of(kind)
                        .orElseThrow(() -> CommandFailure.usage("\"" + kind + "\" is no kind; accepted: "
                                + String.join(", ", RuleTable.names()) + ", " + ALL)));
        ServiceConnection service = service();
        if (documents) {
            printDocuments(service, tables);
        } else if (name != null && tables.getFirst() != RuleTable.ACCESS_RULES) {
            JsonNode found = tables.getFirst().one(service, name);
            print(found, List.of(tables.getFirst().nameOf(found)), () -> printRows(tables.getFirst(), List.of(found)));
        } else {
            List<JsonNode> found = tables.getFirst().list(service, name);
            printItems(found, tables.getFirst().nameField(), () -> printRows(tables.getFirst(), found));
        }
        return ExitStatus.OK;
    }

    private void printRows(RuleTable rules, List<JsonNode> found) {
        if (found.isEmpty()) {
            remark("There are none.");
            return;
        }
        TextTable table = new TextTable(style(), rules.header());
        found.forEach(item -> table.add(rules.row(item)));
        printTable(table);
    }

    private void printDocuments(ServiceConnection service, List<RuleTable> tables) {
        List<JsonNode> items = new ArrayList<>();
        for (RuleTable table : tables) {
            if (table.kind().isEmpty()) {
                throw CommandFailure.usage("there are no documents of " + kind);
            }
            List<JsonNode> found = name != null && table != RuleTable.ACCESS_RULES
                    ? List.of(table.one(service, name))
                    : table.list(service, name);
            for (JsonNode item : found) {
                items.add(RuleFields.document(table.kind(), table.documentName(item), item));
            }
        }
        JsonNode list = DocumentWriter.JSON.createObjectNode().set("items", DocumentWriter.JSON.valueToTree(items));
        print(
                list,
                items.stream().map(item -> item.path("name").asText()).toList(),
                () -> items.forEach(item -> {
                    out().println("---");
                    out().println(DocumentWriter.yaml(item));
                }));
    }
}
