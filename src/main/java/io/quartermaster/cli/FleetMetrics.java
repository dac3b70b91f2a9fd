package io.quartermaster.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The fleet as the metrics of a running service state it.
 *
 * @param gpusByPool a text for each pool, such as {@code 3 allocated, 7 free}
 * @param lostNodes how many nodes were given up and have not reported since
 */
record FleetMetrics(SortedMap<String, String> gpusByPool, long lostNodes) {

    private static final Pattern SAMPLE = Pattern.compile("([a-z_]+)(?:\\{(.*)\\})? ([-+0-9.eE]+)");
    private static final Pattern LABEL = Pattern.compile("([a-z_]+)=\"([^\"]*)\"");

    /** Reads the text format of Prometheus. States without GPUs are left out. */
    static FleetMetrics parse(String text) {
        SortedMap<String, List<String>> pools = new TreeMap<>();
        long lost = 0;
        for (String line : text.lines().toList()) {
            Matcher sample = SAMPLE.matcher(line);
            if (!sample.matches()) {
                continue;
            }
            long value = (long) Double.parseDouble(sample.group(3));
            switch (sample.group(1)) {
                case "quartermaster_agents_lost" -> lost = value;
                case "quartermaster_gpus" -> {
                    Map<String, String> labels = labels(sample.group(2));
                    List<String> states =
                            pools.computeIfAbsent(labels.getOrDefault("pool", ""), any -> new ArrayList<>());
                    if (value > 0) {
                        states.add(value + " " + labels.getOrDefault("state", ""));
                    }
                }
                default -> {}
            }
        }
        SortedMap<String, String> texts = new TreeMap<>();
        pools.forEach((pool, states) -> texts.put(
                pool,
                states.isEmpty()
                        ? "none"
                        : String.join(", ", states.stream().sorted().toList())));
        return new FleetMetrics(texts, lost);
    }

    private static Map<String, String> labels(String text) {
        Map<String, String> labels = new TreeMap<>();
        LABEL.matcher(text).results().forEach(found -> labels.put(found.group(1), found.group(2)));
        return labels;
    }
}
