package io.quartermaster.client.rules;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.commands.PersonCommand;
import io.quartermaster.client.connection.ServiceConnection;
import io.quartermaster.client.output.ExitStatus;
import io.quartermaster.client.output.TextTable;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code qm share}: explains the fair share of a group. */
@Command(
        name = "share",
        description = {
            "Explains the fair share of a group in each pool.",
            "Each table shows one division: the branch that leads to the group (>) and the others beside it. Work may use "
                    + "the fair share, or the reserved GPUs if they are more. Others can take back the rest."
        },
        footer = {"%nExamples:%n", "  qm share /research/nlp", "  qm share --pool h100"})
final class ShareCommand extends PersonCommand {

    @Parameters(arity = "0..1", paramLabel = "GROUP", description = "Path of the group. Default: the tenant itself")
    private @Nullable String group;

    @Option(names = "--pool", paramLabel = "POOL", description = "Only this pool; * is all pools together")
    private @Nullable String pool;

    ShareCommand(ClientEnvironment environment) {
        super(environment);
    }

    @Override
    protected ExitStatus run() {
        ServiceConnection service = service();
        Map<String, String> query = new LinkedHashMap<>();
        if (group != null) {
            query.put("group", group);
        }
        if (pool != null) {
            query.put("pool", pool);
        }
        JsonNode share = service.get(service.path("share"), query);
        List<String> pools = share.path("pools")
                .valueStream()
                .map(one -> one.path("pool").asText())
                .toList();
        print(share, pools, () -> printTables(share));
        return ExitStatus.OK;
    }

    private void printTables(JsonNode share) {
        for (JsonNode one : share.path("pools")) {
            for (JsonNode level : one.path("levels")) {
                printDivision(one.path("pool").asText(), level);
            }
        }
        String asked = share.path("group").asText();
        remark(
                share.path("pools").isEmpty()
                        ? "No quota binds the work of " + asked + " in " + (pool == null ? "any pool" : pool) + "."
                        : "Fair shares of " + asked + " at "
                                + times().exactly(
                                                Instant.parse(share.path("asOf").asText())) + ".");
    }

    private void printDivision(String pool, JsonNode level) {
        TextTable table = new TextTable(
                style(), " ", "POOL", "GROUP", "RESERVED", "LIMIT", "RANK", "WEIGHT", "USED", "DEMAND", "FAIR SHARE");
        addRow(table, ">", pool, level.path("branch"));
        level.path("siblings").forEach(sibling -> addRow(table, " ", pool, sibling));
        printTable(table);
        remark(level.path("text").asText());
    }

    private static void addRow(TextTable table, String mark, String pool, JsonNode branch) {
        table.add(
                mark,
                pool,
                branch.path("group").asText() + (branch.path("ownWork").asBoolean() ? " (own work)" : ""),
                branch.path("reserved").asText(),
                branch.path("limit").asText("-"),
                branch.path("rank").asText(),
                branch.path("weight").asText(),
                branch.path("used").asText(),
                branch.path("demand").asText(),
                branch.path("fairShare").asText());
    }
}
