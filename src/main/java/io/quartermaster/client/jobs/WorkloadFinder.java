package io.quartermaster.client.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.client.connection.ServiceConnection;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.ExitStatus;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Finds the workload that a person names: by its id, by the beginning of its id, or by its name. A name stands for its
 * only workload, or for its only workload that has not ended.
 */
final class WorkloadFinder {

    private static final Set<String> ENDED = Set.of("succeeded", "failed", "cancelled");
    private static final Pattern ID = Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");
    private static final Pattern BEGINNING_OF_ID = Pattern.compile("[0-9a-f][0-9a-f-]{3,34}");

    /** How many of the newest workloads are compared with the beginning of an id. */
    private static final int NEWEST = 5_000;

    private static final int SAME_NAME = 500;
    private static final int SHOWN = 10;

    private final ServiceConnection service;

    WorkloadFinder(ServiceConnection service) {
        this.service = service;
    }

    static boolean hasEnded(JsonNode workload) {
        return ENDED.contains(workload.path("state").asText());
    }

    /** The id of the workload. Fails if there is none, or more than one. */
    String find(String text) {
        String lower = text.toLowerCase(Locale.ROOT);
        if (ID.matcher(lower).matches()) {
            return lower;
        }
        List<JsonNode> named = service.items(service.path("workloads"), Map.of("name", text), SAME_NAME).stream()
                .filter(workload -> workload.path("name").asText().equals(text))
                .toList();
        if (!named.isEmpty()) {
            return only("named " + text, named);
        }
        if (BEGINNING_OF_ID.matcher(lower).matches()) {
            List<JsonNode> found = service.items(service.path("workloads"), Map.of(), NEWEST).stream()
                    .filter(workload -> workload.path("id").asText().startsWith(lower))
                    .toList();
            if (found.size() > 1) {
                throw ambiguous("whose id begins with " + text, found);
            }
            if (found.size() == 1) {
                return id(found.getFirst());
            }
        }
        throw new CommandFailure(
                ExitStatus.NOT_FOUND,
                "there is no job " + text + ". Give its id, the beginning of its id, or its name; qm list --all shows"
                        + " them");
    }

    private static String only(String how, List<JsonNode> found) {
        List<JsonNode> open = found.size() == 1
                ? found
                : found.stream().filter(workload -> !hasEnded(workload)).toList();
        if (open.size() == 1) {
            return id(open.getFirst());
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
                                        + workload.path("submittedAt").asText())
                        .toList(),
                null);
    }

    private static String id(JsonNode workload) {
        return workload.path("id").asText();
    }
}
