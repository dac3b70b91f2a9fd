package io.quartermaster.client.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.client.commands.TokenClaims;
import io.quartermaster.client.connection.ServiceConnection;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.ExitStatus;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Finds the workload that a person names: by its id, by the beginning of its id, or by its name. A name stands for the
 * person's only workload of that name, or for the only one that has not ended. If the person has none, the name stands
 * for a workload of the tenant in the same way. It does not in a command that changes or repeats the workload.
 */
final class WorkloadFinder {

    private static final Set<String> ENDED = Set.of("succeeded", "failed", "cancelled");
    private static final Pattern ID = Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");
    private static final Pattern BEGINNING_OF_ID = Pattern.compile("[0-9a-f][0-9a-f-]{3,34}");

    /** How many of the newest workloads are compared with the beginning of an id. */
    private static final int NEWEST = 5_000;

    private static final int SHOWN = 10;

    private final ServiceConnection service;

    WorkloadFinder(ServiceConnection service) {
        this.service = service;
    }

    static boolean hasEnded(JsonNode workload) {
        return ENDED.contains(workload.path("state").asText());
    }

    /** The id of the workload, for a command that only reads it. Fails if there is none, or more than one. */
    String find(String text) {
        return find(text, false);
    }

    /** As {@link #find(String)}, but a name does not stand for another person's workload. */
    String findToChange(String text) {
        return find(text, true);
    }

    private String find(String text, boolean toChange) {
        String lower = text.toLowerCase(Locale.ROOT);
        if (ID.matcher(lower).matches()) {
            return lower;
        }
        String caller = TokenClaims.of(service.token().current())
                .path("preferred_username")
                .asText("");
        List<JsonNode> named = caller.isEmpty() ? List.of() : named(text, Map.of("submittedBy", caller));
        if (named.isEmpty()) {
            named = named(text, Map.of());
        }
        List<JsonNode> begun = BEGINNING_OF_ID.matcher(lower).matches()
                ? service.items(service.path("workloads"), Map.of(), NEWEST).stream()
                        .filter(workload -> id(workload).startsWith(lower))
                        .toList()
                : List.of();
        if (!named.isEmpty() && !begun.isEmpty()) {
            List<JsonNode> both = new ArrayList<>(named);
            begun.stream().filter(workload -> !both.contains(workload)).forEach(both::add);
            if (both.size() > 1) {
                throw ambiguous("have the name " + text + " or an id that begins with it", both);
            }
        }
        if (begun.size() > 1) {
            throw ambiguous("whose id begins with " + text, begun);
        }
        if (begun.size() == 1) {
            return id(begun.getFirst());
        }
        if (named.isEmpty()) {
            throw new CommandFailure(
                    ExitStatus.NOT_FOUND,
                    "there is no job " + text + ". Give its id, the beginning of its id, or its name; qm list --all"
                            + " shows them");
        }
        JsonNode only = only("named " + text, named);
        String owner = only.path("submittedBy").asText();
        if (toChange && !caller.isEmpty() && !owner.equals(caller)) {
            throw new CommandFailure(
                    ExitStatus.NOT_FOUND,
                    "you have no job named " + text + "; one of " + owner + " has that name. If you mean it, give its"
                            + " id: " + id(only));
        }
        return id(only);
    }

    private List<JsonNode> named(String name, Map<String, String> filters) {
        Map<String, String> query = new LinkedHashMap<>(filters);
        query.put("name", name);
        return service.matching(service.path("workloads"), query, workload -> workload.path("name")
                .asText()
                .equals(name));
    }

    private static JsonNode only(String how, List<JsonNode> found) {
        List<JsonNode> open = found.size() == 1
                ? found
                : found.stream().filter(workload -> !hasEnded(workload)).toList();
        if (open.size() == 1) {
            return open.getFirst();
        }
        throw ambiguous(how, open.isEmpty() ? found : open);
    }

    private static CommandFailure ambiguous(String how, List<JsonNode> found) {
        return new CommandFailure(
                ExitStatus.NOT_FOUND,
                found.size() + " jobs " + how + "; give the id of one",
                found.stream()
                        .limit(SHOWN)
                        .map(workload ->
                                id(workload) + "  " + workload.path("state").asText() + ", submitted "
                                        + workload.path("submittedAt").asText() + " by "
                                        + workload.path("submittedBy").asText())
                        .toList(),
                null);
    }

    private static String id(JsonNode workload) {
        return workload.path("id").asText();
    }
}
