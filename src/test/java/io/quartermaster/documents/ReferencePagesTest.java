package io.quartermaster.documents;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The pages of {@code docs/reference} name everything that the contract and the sources have, and nothing else.
 * Settings and metrics have their own tests.
 */
class ReferencePagesTest {

    private static final Path PAGES = Path.of("docs", "reference");
    private static final String BEGIN = "<!-- permissions: written by ReferencePagesTest -->\n";
    private static final String END = "<!-- end of permissions -->";
    private static final Pattern CODES = Pattern.compile("<!-- codes: ([A-Za-z]+) -->\n\n((?:\\|.*\n)+)");
    private static final Pattern FIRST_CELL = Pattern.compile("(?m)^\\| `([^`]+)` \\|");
    /** The code of a problem, written as a literal in the code that refuses. */
    private static final Pattern PROBLEM = Pattern.compile(
            "\\b(?:of\\(\\s*[45]\\d\\d,|(?:conflict|refused|refuseIfAny)\\()\\s*\"([a-z]+(?:-[a-z]+)*)\"[,)]");

    private static final List<String> COLUMNS = List.of(
            "operator",
            "tenant-admin",
            "tenant-automation",
            "group-admin",
            "member",
            "viewer",
            "billing-reader",
            "agent");

    @Test
    void everyCodeOfTheContractIsExplained() throws IOException {
        String page = Files.readString(PAGES.resolve("reason-codes.md"));
        JsonNode schemas = contract().path("components").path("schemas");
        List<MatchResult> tables = CODES.matcher(page).results().toList();

        assertThat(tables).extracting(table -> table.group(1)).contains("WaitReasonCode", "PreemptionCause");
        assertThat(tables).allSatisfy(table -> {
            List<String> values = new ArrayList<>();
            schemas.path(table.group(1)).path("enum").forEach(value -> values.add(value.asText()));
            assertThat(firstCells(table.group(2))).as(table.group(1)).containsExactlyElementsOf(values);
        });
    }

    /** Run with {@code -Dqm.docs.write=true} to rewrite the table. */
    @Test
    void everyPermissionIsInTheTableWithItsRoles() throws IOException {
        Path file = PAGES.resolve("roles.md");
        String page = Files.readString(file);
        int begin = page.indexOf(BEGIN) + BEGIN.length();
        if (Boolean.getBoolean("qm.docs.write")) {
            page = page.substring(0, begin) + permissions() + page.substring(page.indexOf(END));
            Files.writeString(file, page);
        }

        assertThat(page.substring(begin, page.indexOf(END)))
                .as("run ./mvnw test -Dtest=ReferencePagesTest -Dqm.docs.write=true")
                .isEqualTo(permissions());
        assertThat(firstCells(page.substring(0, begin))).containsExactlyInAnyOrderElementsOf(COLUMNS);
    }

    @Test
    void everyProblemCodeIsExplained() throws IOException {
        List<String> explained = firstCells(Files.readString(PAGES.resolve("problem-codes.md")));
        String sources = sources();

        assertThat(found(PROBLEM)).hasSizeGreaterThan(40).isSubsetOf(explained);
        assertThat(explained).doesNotHaveDuplicates().isSorted().allSatisfy(code -> assertThat(sources)
                .as(code)
                .containsAnyOf("\"" + code + "\"", "\"" + code.replaceFirst("-[a-z]+$", "-") + "\""));
    }

    @Test
    void everyTermIsExplainedOnce() throws IOException {
        List<String> terms = Files.readAllLines(PAGES.resolve("glossary.md")).stream()
                .filter(line -> line.startsWith("| ") && !line.startsWith("| ---") && !line.startsWith("| term |"))
                .flatMap(line -> Stream.of(line.split("\\|")[1].split(",")))
                .map(String::strip)
                .toList();

        assertThat(terms).hasSizeGreaterThan(30).doesNotHaveDuplicates();
    }

    private static String permissions() throws IOException {
        TreeMap<String, Set<String>> roles = new TreeMap<>();
        contract()
                .path("paths")
                .forEach(path -> path.forEach(operation -> {
                    if (operation.has("x-permission")) {
                        Set<String> granted = roles.computeIfAbsent(
                                operation.path("x-permission").asText(), any -> new TreeSet<>());
                        operation.path("x-roles").forEach(role -> granted.add(role.asText()));
                    }
                }));
        return roles.entrySet().stream()
                .map(entry -> "| `" + entry.getKey() + "` | "
                        + COLUMNS.stream()
                                .map(role -> entry.getValue().contains(role) ? "yes" : "")
                                .collect(Collectors.joining(" | "))
                        + " |\n")
                .collect(Collectors.joining(
                        "",
                        "\n| permission | " + String.join(" | ", COLUMNS) + " |\n|"
                                + " --- |".repeat(COLUMNS.size() + 1) + "\n",
                        "\n"));
    }

    private static JsonNode contract() throws IOException {
        return new YAMLMapper().readTree(Path.of("openapi", "openapi.yaml").toFile());
    }

    private static List<String> firstCells(String text) {
        return FIRST_CELL.matcher(text).results().map(cell -> cell.group(1)).toList();
    }

    private static Set<String> found(Pattern pattern) throws IOException {
        return pattern.matcher(sources())
                .results()
                .map(match -> match.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static String sources() throws IOException {
        StringBuilder sources = new StringBuilder();
        try (Stream<Path> files = Files.walk(Path.of("src", "main", "java"))) {
            for (Path file : files.filter(path -> path.toString().endsWith(".java"))
                    .sorted()
                    .toList()) {
                sources.append(Files.readString(file));
            }
        }
        return sources.toString();
    }
}
