package io.quartermaster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The one list of metrics: the rows of tables below {@code docs/} whose first column is a metric with its labels. */
public final class DocumentedMetrics {

    private static final Pattern ROW =
            Pattern.compile("(?m)^\\| `((?:quartermaster|http_server|jvm|process)_[a-z0-9_]+)(?:\\{([a-z,_]+)})?` \\|");

    private DocumentedMetrics() {}

    /** The names of the metrics in Prometheus. */
    public static Set<String> names() {
        return labels().keySet();
    }

    /** The labels of each metric, by its name. Fails if a metric is listed twice. */
    public static Map<String, Set<String>> labels() {
        Map<String, Set<String>> metrics = new TreeMap<>();
        for (Path page : pages()) {
            ROW.matcher(read(page)).results().forEach(row -> {
                Set<String> labels = row.group(2) == null
                        ? Set.of()
                        : Arrays.stream(row.group(2).split(",")).collect(Collectors.toCollection(TreeSet::new));
                if (metrics.put(row.group(1), labels) != null) {
                    throw new AssertionError(row.group(1) + " is listed twice below docs/");
                }
            });
        }
        return metrics;
    }

    private static List<Path> pages() {
        try (Stream<Path> all = Files.walk(Path.of("docs"))) {
            return all.filter(file -> file.toString().endsWith(".md")).sorted().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String read(Path page) {
        try {
            return Files.readString(page);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
