package io.quartermaster;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;

/**
 * Alert rules, dashboard, collector and runbooks use only metrics that the code exports and the documentation lists.
 * Each alert has its page.
 */
class MonitoringDocTest {

    private static final Path RULES = Path.of("deploy/prometheus/alerts.yaml");
    private static final Path DASHBOARD = Path.of("deploy/grafana/quartermaster.json");
    private static final Path COLLECTOR = Path.of("deploy/otel-collector/config.yaml");
    private static final Path RUNBOOKS = Path.of("docs/runbooks");
    private static final List<String> HEADINGS =
            List.of("## Meaning", "## Impact", "## Diagnosis", "## Mitigation", "## Escalation");

    private static final Pattern BUILDER = Pattern.compile("\\.builder\\(\\s*\"(quartermaster\\.[a-z.]+)\"");
    private static final Pattern IN_TEXT =
            Pattern.compile("\\b(?:quartermaster_|http_server_|jvm_|process_)[a-z0-9_]+(?![a-z0-9_.(/])");
    private static final Pattern SELECTOR = Pattern.compile("\\{([^}]*)}");
    private static final Pattern LABEL = Pattern.compile("([a-z_]+)\\s*(?:=~|!~|!=|=)\\s*\"");
    private static final Pattern GROUPING = Pattern.compile("\\b(?:by|without|on|ignoring)\\s*\\(([^)]*)\\)");
    private static final Pattern NAME = Pattern.compile("(?<![\\w$])([a-zA-Z_:][\\w:]*)(?!\\w)(?!\\s*\\()");
    private static final Set<String> KEYWORDS = Set.of("and", "or", "unless", "bool", "offset");
    /** Labels that Prometheus itself adds to a series. */
    private static final Set<String> LABELS_OF_SCRAPES = Set.of("instance", "job");

    @Test
    void theListHasEveryMetricThatTheCodeMakesAndNoOther() throws IOException {
        Set<String> made = new TreeSet<>();
        for (Path file : files(Path.of("src/main/java"), ".java")) {
            BUILDER.matcher(Files.readString(file))
                    .results()
                    .forEach(found -> made.add(found.group(1).replace('.', '_')));
        }
        Set<String> listed = DocumentedMetrics.names().stream()
                .filter(name -> name.startsWith("quartermaster_"))
                .map(name -> name.replaceFirst("(_total|_seconds)$", ""))
                .collect(Collectors.toCollection(TreeSet::new));

        assertThat(listed).hasSizeGreaterThan(20).isEqualTo(made);
    }

    @Test
    void alertRulesNameMetricsAndLabelsOfTheList() throws IOException {
        assertThat(rules()).hasSizeGreaterThan(10).allSatisfy(rule -> assertKnown(String.valueOf(rule.get("expr"))));
    }

    @Test
    void everyAlertSaysWhatItIsAndWhereItsPageIs() throws IOException {
        assertThat(rules()).allSatisfy(rule -> {
            String name = String.valueOf(rule.get("alert"));
            Map<?, ?> annotations = (Map<?, ?>) rule.getOrDefault("annotations", Map.of());
            assertThat(name).matches("Quartermaster[A-Z][A-Za-z]+");
            assertThat(String.valueOf(rule.get("labels"))).matches("\\{severity=(critical|warning)}");
            assertThat(String.valueOf(annotations.get("summary"))).as(name).hasSizeBetween(10, 90);
            assertThat(String.valueOf(annotations.get("description"))).as(name).endsWith(".");
            assertThat(String.valueOf(annotations.get("runbook_url"))).isEqualTo("docs/runbooks/" + name + ".md");
        });
    }

    @Test
    void everyAlertHasItsPageAndEveryPageItsAlert() throws IOException {
        Set<String> alerts =
                rules().stream().map(rule -> String.valueOf(rule.get("alert"))).collect(Collectors.toSet());
        Set<String> pages = files(RUNBOOKS, ".md").stream()
                .map(page -> page.getFileName().toString().replace(".md", ""))
                .filter(page -> page.startsWith("Quartermaster"))
                .collect(Collectors.toSet());

        assertThat(pages).isEqualTo(alerts);
        assertThat(pages).allSatisfy(page -> {
            String text = Files.readString(RUNBOOKS.resolve(page + ".md"));
            assertThat(text).startsWith("# " + page + "\n");
            assertThat(text.lines().filter(line -> line.startsWith("## ")))
                    .as(page)
                    .isEqualTo(HEADINGS);
            assertThat(Files.readString(RUNBOOKS.resolve("README.md"))).contains("(" + page + ".md)");
        });
    }

    @Test
    void runbooksNameMetricsOfTheList() throws IOException {
        Set<String> series = series().keySet();
        List<String> named = new ArrayList<>();
        for (Path page : files(RUNBOOKS, ".md")) {
            for (String code : code(Files.readString(page))) {
                IN_TEXT.matcher(code).results().map(found -> found.group()).forEach(named::add);
            }
        }

        assertThat(named).hasSizeGreaterThan(10).allSatisfy(name -> assertThat(series)
                .contains(name));
    }

    @Test
    void runbooksLeadToPagesThatAreThere() throws IOException {
        for (Path page : files(RUNBOOKS, ".md")) {
            assertThat(Pattern.compile("]\\(([^)#:]+\\.md)(#[^)]*)?\\)")
                            .matcher(Files.readString(page))
                            .results()
                            .map(link -> RUNBOOKS.resolve(link.group(1))))
                    .as("%s", page)
                    .allSatisfy(target -> assertThat(target).exists());
        }
    }

    @Test
    void thePanelsOfTheDashboardNameMetricsAndLabelsOfTheList() throws IOException {
        JsonNode dashboard = new ObjectMapper().readTree(DASHBOARD.toFile());
        List<String> expressions = new ArrayList<>();
        Set<Integer> ids = new TreeSet<>();
        for (JsonNode panel : dashboard.get("panels")) {
            assertThat(ids.add(panel.get("id").asInt())).as("id of a panel").isTrue();
            if (!panel.get("type").asText().equals("row")) {
                assertThat(panel.get("targets")).as(panel.get("title").asText()).isNotEmpty();
                panel.get("targets")
                        .forEach(target -> expressions.add(target.get("expr").asText()));
            }
        }
        for (JsonNode variable : dashboard.get("templating").get("list")) {
            if (variable.get("type").asText().equals("query")) {
                String query = variable.get("query").get("query").asText();
                Matcher values =
                        Pattern.compile("label_values\\((\\w+), (\\w+)\\)").matcher(query);
                assertThat(values.matches()).as(query).isTrue();
                assertThat(series().getOrDefault(values.group(1), Set.of())).contains(values.group(2));
            }
        }

        assertThat(expressions).hasSizeGreaterThan(25).allSatisfy(MonitoringDocTest::assertKnown);
    }

    @Test
    void everyMetricOfAnAlertIsShownOnTheDashboard() throws IOException {
        String dashboard = Files.readString(DASHBOARD);

        assertThat(rules()).allSatisfy(rule -> assertThat(namesIn(String.valueOf(rule.get("expr"))))
                .allSatisfy(name -> assertThat(dashboard).contains(name)));
    }

    @Test
    void theCollectorKeepsTheMetricsOfRulesAndDashboardAndSendsThemOn() throws IOException {
        Map<String, Object> collector = yaml(COLLECTOR);
        Matcher kept = Pattern.compile("regex: (\\S+)").matcher(Files.readString(COLLECTOR));
        assertThat(kept.find()).isTrue();
        Pattern pattern = Pattern.compile(kept.group(1));
        Set<String> named = new LinkedHashSet<>();
        for (Map<String, Object> rule : rules()) {
            named.addAll(namesIn(String.valueOf(rule.get("expr"))));
        }
        for (JsonNode expression :
                new ObjectMapper().readTree(DASHBOARD.toFile()).findValues("expr")) {
            named.addAll(namesIn(expression.asText()));
        }

        assertThat(named).allSatisfy(name -> assertThat(name).matches(pattern));
        for (Object pipeline : ((Map<?, ?>) at(collector, "service", "pipelines")).values()) {
            for (String kind : List.of("receivers", "processors", "exporters")) {
                assertThat((List<?>) at(pipeline, kind)).isNotEmpty().allSatisfy(part -> assertThat(
                                ((Map<?, ?>) at(collector, kind)).containsKey(part))
                        .as("%s %s", kind, part)
                        .isTrue());
            }
        }
        assertThat(at(collector, "receivers", "prometheus", "config", "scrape_configs")
                        .toString())
                .contains("metrics_path=/metrics");
    }

    /** Asserts that every metric is in the list, and every label belongs to a metric of the expression. */
    private static void assertKnown(String expression) {
        Map<String, Set<String>> series = series();
        Set<String> names = namesIn(expression);
        assertThat(names).as(expression).isNotEmpty();
        assertThat(names).as(expression).allSatisfy(name -> assertThat(series).containsKey(name));
        Set<String> labels = names.stream()
                .flatMap(name -> series.getOrDefault(name, Set.of()).stream())
                .collect(Collectors.toSet());
        labels.addAll(LABELS_OF_SCRAPES);
        assertThat(labelsIn(expression)).as(expression).isSubsetOf(labels);
    }

    /** The names in an expression of PromQL, without selectors, ranges, groupings, functions, numbers and keywords. */
    private static Set<String> namesIn(String expression) {
        String bare = expression
                .replaceAll("\\{[^}]*}", "")
                .replaceAll("\\[[^]]*]", "")
                .replaceAll("\"[^\"]*\"", "");
        bare = GROUPING.matcher(bare).replaceAll("");
        return NAME.matcher(bare)
                .results()
                .map(found -> found.group(1))
                .filter(name -> !KEYWORDS.contains(name))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<String> labelsIn(String expression) {
        Set<String> labels = new TreeSet<>();
        SELECTOR.matcher(expression).results().forEach(selector -> LABEL.matcher(selector.group(1))
                .results()
                .forEach(label -> labels.add(label.group(1))));
        GROUPING.matcher(expression)
                .results()
                .forEach(grouping ->
                        labels.addAll(Arrays.asList(grouping.group(1).split("\\s*,\\s*"))));
        return labels;
    }

    /** The series of each metric, with their labels: a timer also has the series of its count, sum and maximum. */
    private static Map<String, Set<String>> series() {
        Map<String, Set<String>> series = new TreeMap<>();
        DocumentedMetrics.labels().forEach((name, labels) -> {
            series.put(name, labels);
            if (name.endsWith("_seconds")) {
                for (String part : List.of("_count", "_sum", "_max")) {
                    series.put(name + part, labels);
                }
            }
        });
        return series;
    }

    private static List<Map<String, Object>> rules() throws IOException {
        List<Map<String, Object>> rules = new ArrayList<>();
        for (Object group : (List<?>) at(yaml(RULES), "groups")) {
            for (Object rule : (List<?>) at(group, "rules")) {
                rules.add(mapOf(rule));
            }
        }
        return rules;
    }

    private static Map<String, Object> yaml(Path file) throws IOException {
        LoaderOptions options = new LoaderOptions();
        options.setAllowDuplicateKeys(false);
        return mapOf(new Yaml(options).load(Files.readString(file)));
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> mapOf(Object tree) {
        return (Map<String, Object>) tree;
    }

    private static Object at(Object tree, String... keys) {
        Object found = tree;
        for (String key : keys) {
            Object next = ((Map<?, ?>) found).get(key);
            if (next == null) {
                throw new AssertionError(key + " is missing in " + found);
            }
            found = next;
        }
        return found;
    }

    private static List<String> code(String markdown) {
        return Pattern.compile("```[a-z]*\\n(.*?)```|`([^`\\n]+)`", Pattern.DOTALL)
                .matcher(markdown)
                .results()
                .map(found -> found.group())
                .toList();
    }

    private static List<Path> files(Path folder, String ending) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(file -> file.toString().endsWith(ending)).sorted().toList();
        }
    }
}
