package io.quartermaster.client.connection;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The line about one refused field of a problem, without what the problem's own sentence says already. */
final class FieldText {

    private static final Pattern DURATION = Pattern.compile("\\bPT(\\d+[HMS])\\b");

    private static final Pattern WORKLOAD = Pattern.compile("\\b([Tt])he workload\\b");

    private FieldText() {}

    /** Empty if the message says all of it. */
    static Optional<String> line(JsonNode error, String message) {
        String field = error.path("field").asText();
        String why = ofJobs(error.path("message").asText());
        String accepted = error.hasNonNull("accepted")
                ? "accepted: " + forPeople(field, error.path("accepted").asText())
                : "";
        if (!message.contains(why)) {
            return Optional.of(field + ": " + why + (accepted.isEmpty() ? "" : "; " + accepted));
        }
        if (accepted.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(message.contains(field) ? accepted : field + ": " + accepted);
    }

    /** The text with the word for workloads that the commands use. */
    static String ofJobs(String text) {
        return WORKLOAD.matcher(text).replaceAll("$1he job");
    }

    /** Durations also as people write them, and the command that lists queues. */
    private static String forPeople(String field, String accepted) {
        if (field.equals("queue") || field.endsWith(".queue")) {
            return accepted + "; qm queues lists yours";
        }
        String durations = DURATION.matcher(accepted)
                .results()
                .map((MatchResult found) -> found.group(1).toLowerCase(Locale.ROOT))
                .collect(Collectors.joining(" to "));
        return durations.isEmpty() ? accepted : accepted + ", that is " + durations;
    }
}
