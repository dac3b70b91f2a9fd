package io.quartermaster.cli.load;

import java.util.List;
import java.util.Locale;

/** The figures of a run with many agents as a page of Markdown. */
public final class AgentLoadReport {
    /** The formats of the columns, in their order. */
    private static final List<String> COLUMNS = List.of(
            "%d",
            "%d",
            "%.0f",
            "%.1f",
            "%d",
            "%.3f",
            "%.3f",
            "%.3f",
            "%.2f + %.2f",
            "%.0f + %.0f",
            "%.0f, %.0f",
            "%d (%d)",
            "%d");

    private AgentLoadReport() {}

    /** @param conditions the conditions of the run, one line each */
    public static String markdown(List<AgentLoadRun.Figures> figures, List<String> conditions) {
        StringBuilder text = new StringBuilder("""
                # Calls of many agents

                Made by `qm load agents`. One light client imitates all agents over HTTP; each call shows its node's own
                session. *Cores* are seconds of processor time per second, from `/proc`; the client's are not among
                them. *Order* is the time from the stamp of the plan that bound an attempt until its agent has the
                order. It includes the rest of the leader's cycle.

                """);
        conditions.forEach(line -> text.append("- ").append(line).append('\n'));
        text.append("""

                | nodes | starts /s | calls /s | abandoned /s | failed \
                | service, cores | of it the compiler | PostgreSQL, cores | ms per call, service + PostgreSQL \
                | bytes per call, request + answer | order p50, p99 ms | orders (not seen) | nodes lost |
                | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
                """);
        for (AgentLoadRun.Figures row : figures) {
            ProcessorTimes.Seconds processor = row.processor();
            double calls = Math.max(1, row.calls() * row.seconds());
            text.append(String.format(
                    Locale.ROOT,
                    "| " + String.join(" | ", COLUMNS) + " |%n",
                    row.nodes(),
                    row.starts(),
                    row.calls(),
                    row.abandoned(),
                    row.failed(),
                    processor.service() / row.seconds(),
                    processor.compiler() / row.seconds(),
                    processor.postgres() / row.seconds(),
                    1_000 * (processor.service() - processor.compiler()) / calls,
                    1_000 * processor.postgres() / calls,
                    row.sentBytes(),
                    row.answeredBytes(),
                    row.order().percentileMillis(50),
                    row.order().percentileMillis(99),
                    row.order().count(),
                    row.unseen(),
                    row.lost()));
        }
        return text.toString();
    }
}
