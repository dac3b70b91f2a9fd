package io.quartermaster.client.rules;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.client.connection.ServiceConnection;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.ExitStatus;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The kinds of rules that {@code qm get} lists, with the columns of their tables. */
enum RuleTable {
    GROUPS("groups", "group", "path", List.of("GROUP"), item -> List.of(text(item, "path"))),
    PROFILES(
            "profiles",
            "profile",
            "name",
            List.of("PROFILE", "GPUS", "WORKERS", "POOLS", "AT MOST"),
            item -> List.of(
                    text(item, "name"),
                    size(item),
                    text(item, "workers"),
                    texts(item.path("pools")),
                    text(item, "maxRuntime"))),
    POLICIES(
            "policies",
            "policy",
            "name",
            List.of("POLICY", "GROUP", "STATE", "RESERVED", "PROFILES"),
            item -> List.of(
                    text(item, "name"),
                    text(item, "group"),
                    text(item, "state"),
                    quotas(item.path("quotas")),
                    texts(item.path("profiles")))),
    QUEUES(
            "queues",
            "queue",
            "name",
            List.of("QUEUE", "POLICY", "PROFILE", "STATE", "ORDER", "MAX WAITING"),
            item -> List.of(
                    text(item, "name"),
                    text(item, "policy"),
                    text(item, "profile"),
                    text(item, "state"),
                    text(item, "order"),
                    text(item, "maxWaiting"))),
    ACCESS_RULES(
            "access-rules",
            "access-rule",
            "id",
            List.of("QUEUE", "ADMITS", "SUBJECT"),
            item -> List.of(text(item, "queue"), text(item, "subjectKind"), text(item, "subject"))),
    POOLS(
            "pools",
            "",
            "name",
            List.of("POOL", "RESERVED", "LIMIT", "LENDABLE", "MAX GRACE"),
            item -> List.of(
                    text(item, "name"),
                    text(item, "reserved"),
                    text(item, "limit"),
                    text(item, "lendable"),
                    text(item, "maxGrace")));

    private final String plural;
    private final String kind;
    private final String nameField;
    private final List<String> header;
    private final Function<JsonNode, List<String>> row;

    RuleTable(String plural, String kind, String nameField, List<String> header, Function<JsonNode, List<String>> row) {
        this.plural = plural;
        this.kind = kind;
        this.nameField = nameField;
        this.header = header;
        this.row = row;
    }

    /** The kind that a person names in the plural or in the singular. */
    static Optional<RuleTable> of(String name) {
        return Arrays.stream(values())
                .filter(table ->
                        table.plural.equals(name) || table.kind.equals(name) || table.plural.equals(name + "s"))
                .findFirst();
    }

    static List<String> names() {
        return Arrays.stream(values()).map(table -> table.plural).toList();
    }

    static List<RuleTable> withDocuments() {
        return Arrays.stream(values()).filter(table -> !table.kind.isEmpty()).toList();
    }

    /** The name of the kind in documents; empty if it has none. */
    String kind() {
        return kind;
    }

    String nameField() {
        return nameField;
    }

    String nameOf(JsonNode item) {
        return text(item, nameField);
    }

    /** The name in a document; that of an access rule is the name of its queue. */
    String documentName(JsonNode item) {
        return this == ACCESS_RULES ? text(item, "queue") : nameOf(item);
    }

    String[] header() {
        return header.toArray(String[]::new);
    }

    String[] row(JsonNode item) {
        return row.apply(item).toArray(String[]::new);
    }

    /** The objects of the kind; access rules of one queue, or of all. */
    List<JsonNode> list(ServiceConnection service, @Nullable String queue) {
        if (this != ACCESS_RULES) {
            return this == POOLS
                    ? items(service.get(service.path(plural)))
                    : service.items(service.path(plural), Map.of(), Integer.MAX_VALUE);
        }
        List<JsonNode> rules = new ArrayList<>();
        List<String> queues = queue != null
                ? List.of(queue)
                : QUEUES.list(service, null).stream().map(QUEUES::nameOf).toList();
        for (String one : queues) {
            for (JsonNode rule : items(service.get(service.path("queues", one, plural)))) {
                rules.add(((ObjectNode) rule).put("queue", one));
            }
        }
        return rules;
    }

    /** The items of a list that has one page. */
    private static List<JsonNode> items(JsonNode list) {
        return list.path("items").valueStream().toList();
    }

    /** The object of a name. Fails if there is none. */
    JsonNode one(ServiceConnection service, String name) {
        return switch (this) {
            case PROFILES, POLICIES, QUEUES -> service.get(service.path(plural, name));
            case GROUPS, POOLS, ACCESS_RULES ->
                list(service, null).stream()
                        .filter(item -> nameOf(item).equals(name))
                        .findFirst()
                        .orElseThrow(() -> new CommandFailure(
                                ExitStatus.NOT_FOUND,
                                "there is no " + name + " among the " + plural + " of the tenant"));
        };
    }

    private static String text(JsonNode item, String field) {
        return item.path(field).asText("");
    }

    private static String texts(JsonNode array) {
        return array.valueStream().map(JsonNode::asText).collect(Collectors.joining(", "));
    }

    private static String size(JsonNode profile) {
        if (profile.hasNonNull("mig")) {
            return text(profile, "mig");
        }
        if (profile.hasNonNull("gpuMemoryMiB")) {
            return text(profile, "gpuMemoryMiB") + " MiB";
        }
        return text(profile, "gpus") + (profile.hasNonNull("maxGpus") ? " to " + text(profile, "maxGpus") : "");
    }

    /** The reserved amount of each pool with its limit, such as {@code h100: 8 of 12}. */
    private static String quotas(JsonNode quotas) {
        return quotas.valueStream()
                .map(quota -> text(quota, "pool") + ": " + text(quota, "reserved")
                        + (quota.hasNonNull("limit") ? ", at most " + text(quota, "limit") : ""))
                .collect(Collectors.joining("; "));
    }
}
