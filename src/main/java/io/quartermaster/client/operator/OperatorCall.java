package io.quartermaster.client.operator;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.commands.PersonCommand;
import io.quartermaster.client.connection.ServiceConnection;
import io.quartermaster.client.connection.ServiceReply;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.DocumentWriter;
import io.quartermaster.client.output.ExitStatus;
import io.quartermaster.client.output.TextStyle;
import io.quartermaster.client.output.TextTable;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A command with calls of the operator. */
abstract class OperatorCall extends PersonCommand {

    private static final int MOST_ATTEMPTS = 3;

    OperatorCall(ClientEnvironment environment) {
        super(environment);
    }

    /** All items of a list of the operator. */
    final List<JsonNode> list(Map<String, String> query, String... steps) {
        return service().items(ServiceConnection.operatorPath(steps), query, Integer.MAX_VALUE);
    }

    /** Prints a list as a table with one row per item. */
    final void printList(
            List<JsonNode> items, String nameField, List<String> header, Function<JsonNode, List<String>> row) {
        printItems(items, nameField, () -> {
            if (items.isEmpty()) {
                remark("There are none.");
                return;
            }
            TextTable table = new TextTable(style(), header.toArray(String[]::new));
            items.forEach(item -> table.add(row.apply(item).toArray(String[]::new)));
            printTable(table);
        });
    }

    /** The query with the filters that are given. */
    static Map<String, String> filters(Map<String, @Nullable String> given) {
        Map<String, String> query = new LinkedHashMap<>();
        given.forEach((name, value) -> {
            if (value != null) {
                query.put(name, value);
            }
        });
        return query;
    }

    /**
     * Patches a resource in its present version. The patch does not depend on other fields, so it is sent again if the
     * resource changed meanwhile.
     */
    final JsonNode patch(String path, ObjectNode patch, boolean dryRun) {
        ServiceConnection service = service();
        for (int attempt = 1; ; attempt++) {
            ServiceReply present = ServiceConnection.require(service.send("GET", path, Map.of(), null, Map.of()));
            Map<String, String> headers = new LinkedHashMap<>(keyed());
            present.etag().ifPresent(version -> headers.put("If-Match", version));
            headers.put("Content-Type", "application/merge-patch+json");
            ServiceReply reply = service.send("PATCH", path, query(dryRun), patch, headers);
            if (reply.status() != 412 || attempt == MOST_ATTEMPTS) {
                return resource(ServiceConnection.require(reply).body());
            }
        }
    }

    /** Sends a request without a body that changes something. */
    final JsonNode send(String method, String path, boolean dryRun) {
        return resource(ServiceConnection.require(service().send(method, path, query(dryRun), null, keyed()))
                .body());
    }

    private static Map<String, String> query(boolean dryRun) {
        return dryRun ? Map.of("dryRun", "true") : Map.of();
    }

    private static Map<String, String> keyed() {
        return Map.of("Idempotency-Key", UUID.randomUUID().toString());
    }

    /** The answer itself, or the one that a dry run describes. */
    private static JsonNode resource(JsonNode answer) {
        return answer.path("resource").isObject() ? answer.path("resource") : answer;
    }

    /**
     * Changes objects one after the other. A refusal of one does not keep the others from changing.
     *
     * @param change changes the object of a name, and returns what to print of it
     * @param report prints a changed object for people
     */
    final ExitStatus changeEach(List<String> names, Function<String, JsonNode> change, Consumer<String> report) {
        List<JsonNode> changed = new ArrayList<>();
        List<String> done = new ArrayList<>();
        ExitStatus worst = ExitStatus.OK;
        for (String name : names) {
            try {
                changed.add(change.apply(name));
                done.add(name);
            } catch (CommandFailure e) {
                if (names.size() == 1) {
                    throw e;
                }
                err().println("qm: " + TextStyle.printable(name + ": " + e.text()));
                worst = worst.code() >= e.status().code() ? worst : e.status();
            }
        }
        ObjectNode document = DocumentWriter.JSON.createObjectNode();
        document.putArray("items").addAll(changed);
        print(names.size() == 1 ? changed.getFirst() : document, done, () -> done.forEach(report));
        return worst;
    }

    static String text(JsonNode item, String field) {
        return item.path(field).asText("");
    }

    /** A moment in the reader's time zone; empty if the item has none. */
    final String moment(JsonNode item, String field) {
        return item.hasNonNull(field) ? times().at(Instant.parse(text(item, field))) : "";
    }
}
