package io.quartermaster.engine.benchmark;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Report of the benchmarks: a section of tables for each part and scale. A run replaces the sections that it measured,
 * and keeps the others. It prints each line as soon as it is known.
 */
final class BenchmarkReport {
    private static final Path FILE = Path.of("benchmarks/engine-representative.md");
    private static final String HEADING = "## ";

    private final Map<String, List<String>> sections = new LinkedHashMap<>();
    private final List<String> outOfRange = new ArrayList<>();
    private final double slowness;
    private List<String> current = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();

    BenchmarkReport(double slowness) {
        this.slowness = slowness;
    }

    void section(String title) {
        endSection();
        current = new ArrayList<>();
        sections.put(title, current);
        System.out.println();
        System.out.println(HEADING + title);
        line("");
        line(String.format(
                Locale.ROOT,
                "JDK %s, load average %.1f at the beginning, machine %.2f times slower than the reference.",
                Runtime.version().feature(),
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage(),
                slowness));
        line("");
    }

    private void endSection() {
        notes.forEach(note -> {
            current.add("");
            current.add(note);
        });
        notes.clear();
    }

    /** A sentence that follows the tables of the section. */
    void note(String text) {
        notes.add(text);
        System.out.println(text);
    }

    /** A note that something could not be measured in time, which fails a check. */
    void stopped(String text) {
        note(text);
        outOfRange.add(text);
    }

    void line(String text) {
        current.add(text);
        System.out.println(text);
    }

    void head(String... columns) {
        line("| " + String.join(" | ", columns) + " |");
        line("| --- ".repeat(columns.length) + "|");
    }

    void row(String... cells) {
        line("| " + String.join(" | ", cells) + " |");
    }

    /** A row with a figure and its goal. */
    void row(String what, String text, Goal goal, double figure) {
        row(what, text, judge(what, goal, figure));
    }

    /** The text of a goal with its result, which a check asserts. */
    String judge(String what, Goal goal, double figure) {
        if (!goal.isInRange(figure, slowness)) {
            outOfRange.add(what + ": " + figure + ", but the goal is " + goal.text(figure));
        }
        return goal.text(figure);
    }

    /** The figures so far that are out of the range around their goal. */
    List<String> outOfRange() {
        return outOfRange;
    }

    void write() throws IOException {
        endSection();
        Map<String, List<String>> all = new LinkedHashMap<>();
        List<String> head = new ArrayList<>();
        List<String> part = head;
        for (String line : Files.exists(FILE) ? Files.readAllLines(FILE) : List.<String>of()) {
            if (line.startsWith(HEADING)) {
                part = new ArrayList<>();
                all.put(line.substring(HEADING.length()), part);
            } else {
                part.add(line);
            }
        }
        all.putAll(sections);
        List<String> text = new ArrayList<>(INTRODUCTION);
        all.forEach((title, lines) -> {
            text.add("");
            text.add(HEADING + title);
            text.addAll(lines);
            while (text.getLast().isEmpty()) {
                text.removeLast();
            }
        });
        Files.write(FILE, text);
    }

    private static final List<String> INTRODUCTION = List.of(
            "# Engine on representative cells",
            "",
            "Three pools of different GPU models, in racks. Tenants, groups and subgroups together reserve 60 % of each "
                    + "pool.",
            "Parts of 100 to 700 thousandths, 1, 2, 4 and 8 GPUs and gangs of up to 64 GPUs wait, with CPU and memory.",
            "A few subgroups submit most of them (Zipf). Quotas have weights, ranks and some limits. Workloads have three",
            "priorities; one in twenty is not preemptible, and about 30 % may use two pools. Some gangs require a rack.",
            "The engine has the service's shipped settings.",
            "",
            "Figures are CPU time of the deciding thread, from fixed seeds. A checker with a model of its own replays "
                    + "every plan",
            "outside of the measured time. The goal stands beside each figure, also where it is missed. Written by",
            "`./qm bench`, which replaces only the sections of the parts and the scale that it measured.");
}
