package io.quartermaster.documents;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The calls that the pages name are in the contract, and {@code jq} reads fields that their answers have. The programs
 * of the tutorials run in a test of their own.
 */
class DocumentedCallsTest {

    private static final Path PAGES = Path.of("docs");
    private static final Pattern CALL =
            Pattern.compile("\\b(GET|POST|PUT|PATCH|DELETE)\\s+[\"'`]?(/v1/[A-Za-z0-9/{}$_-]+)");
    /** A call whose answer goes to {@code jq}: the method, the path, the program in quotes or as a plain path. */
    private static final Pattern READING = Pattern.compile(
            CALL.pattern()
                    + "(?:[^|\\n]|\\\\\\n)*\\|\\s*jq((?:\\s+--arg\\s+\\w+\\s+\\S+|\\s+-{1,2}[a-z-]+)*)\\s+(?:'([^']*)'|(\\.[\\w.\\[\\]]+))");

    private static final String FIELDS = "\\.[A-Za-z]\\w*(?:\\[])?(?:\\.[A-Za-z]\\w*(?:\\[])?)*";
    /** A path in a program of {@code jq}; a name before the point would be a number or a file. */
    private static final Pattern FIELD_PATH = Pattern.compile("(?<![\\w\\])])" + FIELDS);

    @Test
    void everyCallIsInTheContract() throws IOException {
        JsonNode contract = contract();
        List<String> unknown = new ArrayList<>();
        int calls = 0;
        for (Path page : pages()) {
            Matcher call = CALL.matcher(Files.readString(page));
            while (call.find()) {
                calls++;
                if (operation(contract, call.group(1), call.group(2)).isEmpty()) {
                    unknown.add(page + ": " + call.group());
                }
            }
        }

        assertThat(calls).isGreaterThan(50);
        assertThat(unknown).isEmpty();
    }

    @Test
    void jqReadsFieldsThatTheAnswerHas() throws IOException {
        JsonNode contract = contract();
        List<String> missing = new ArrayList<>();
        int programs = 0;
        for (Path page : pages()) {
            for (MatchResult reading :
                    READING.matcher(Files.readString(page)).results().toList()) {
                programs++;
                missing.addAll(missingFields(contract, reading).stream()
                        .map(field -> page + ": " + reading.group(1) + " " + reading.group(2) + " has no " + field)
                        .toList());
            }
        }

        assertThat(programs).isGreaterThan(6);
        assertThat(missing).isEmpty();
    }

    @Test
    void aFieldOfAnotherLevelIsFound() throws IOException {
        JsonNode contract = contract();

        assertThat(missingFields(
                        contract, "api GET \"/v1/operator/usage?tenant=$t\" | jq -r '\"\\(.closedUntil) $t\"'"))
                .containsExactly(".closedUntil");
        assertThat(missingFields(
                        contract,
                        "api GET \"/v1/operator/usage?tenant=$t\" | jq -r --arg t \"$t\" "
                                + "'.items[] | select(.open) | .closedUntil // \"none\"'"))
                .containsExactly(".open");
        assertThat(missingFields(
                        contract, "api GET '/v1/operator/nodes' | jq '.items[] | \"\\(.name) \\(.agent.heard)\"'"))
                .containsExactly(".agent.heard");
        assertThat(missingFields(contract, "api GET '/v1/operator/nodes' | jq .items[].title"))
                .containsExactly(".items[].title");
    }

    private static List<String> missingFields(JsonNode contract, String command) {
        Matcher reading = READING.matcher(command);
        assertThat(reading.find()).as(command).isTrue();
        return missingFields(contract, reading.toMatchResult());
    }

    /**
     * The paths of a program that the answer of its call does not have. A stage that is one path leads into it, a
     * {@code select} leads nowhere, and after any other stage nothing is known.
     */
    private static List<String> missingFields(JsonNode contract, MatchResult reading) {
        List<String> missing = new ArrayList<>();
        List<JsonNode> at = operation(contract, reading.group(1), reading.group(2)).stream()
                .flatMap(operation -> answers(contract, operation))
                .toList();
        String program = reading.group(4) == null ? reading.group(5) : reading.group(4);
        for (String stage : program.split("\\s*\\|\\s*")) {
            for (MatchResult path : FIELD_PATH.matcher(stage).results().toList()) {
                if (at.stream().allMatch(schema -> follow(contract, schema, path.group())
                        .isEmpty())) {
                    missing.add(path.group());
                }
            }
            if (stage.matches(FIELDS)) {
                at = at.stream()
                        .flatMap(schema -> follow(contract, schema, stage).stream())
                        .toList();
            } else if (!stage.startsWith("select(")) {
                break;
            }
        }
        return missing;
    }

    /** The schema to which a path leads. */
    private static Optional<JsonNode> follow(JsonNode contract, JsonNode schema, String path) {
        JsonNode at = schema;
        for (String step : path.substring(1).split("\\.")) {
            String name = step.replace("[]", "");
            JsonNode owner = resolve(contract, at);
            JsonNode next = owner.path("properties").path(name);
            next = next.isMissingNode() ? owner.path("additionalProperties") : next;
            if (!next.isObject()) {
                return Optional.empty();
            }
            at = step.endsWith("[]") ? resolve(contract, next).path("items") : next;
        }
        return at.isMissingNode() ? Optional.empty() : Optional.of(at);
    }

    private static JsonNode resolve(JsonNode contract, JsonNode schema) {
        JsonNode at = schema;
        while (at.has("$ref") || at.has("allOf")) {
            String reference =
                    at.path("$ref").asText(at.path("allOf").path(0).path("$ref").asText());
            at = contract.at(reference.substring(1));
        }
        return at;
    }

    private static Stream<JsonNode> answers(JsonNode contract, JsonNode operation) {
        return operation.path("responses").properties().stream()
                .filter(response -> response.getKey().startsWith("2"))
                .map(response -> resolve(contract, response.getValue())
                        .path("content")
                        .path("application/json")
                        .path("schema"));
    }

    /** The operation of a call; a variable of the shell, and a name, stand for any parameter of the path. */
    private static Optional<JsonNode> operation(JsonNode contract, String method, String path) {
        return contract.path("paths").properties().stream()
                .filter(template -> matches(template.getKey(), path))
                .map(Map.Entry::getValue)
                .filter(operations -> operations.has(method.toLowerCase(Locale.ROOT)))
                .findFirst()
                .map(operations -> operations.path(method.toLowerCase(Locale.ROOT)));
    }

    private static boolean matches(String template, String path) {
        String[] wanted = template.split("/");
        String[] given = path.split("/");
        if (wanted.length != given.length) {
            return false;
        }
        for (int i = 0; i < wanted.length; i++) {
            if (!wanted[i].equals(given[i]) && !wanted[i].startsWith("{")) {
                return false;
            }
        }
        return true;
    }

    private static List<Path> pages() throws IOException {
        try (Stream<Path> files = Files.walk(PAGES)) {
            return files.filter(file -> file.toString().endsWith(".md"))
                    .sorted()
                    .toList();
        }
    }

    private static JsonNode contract() throws IOException {
        return new YAMLMapper().readTree(Path.of("openapi", "openapi.yaml").toFile());
    }
}
