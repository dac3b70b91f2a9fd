package io.quartermaster.cli.load;

import java.util.List;
import java.util.Locale;

/** The figures of a load run as a page of Markdown. */
public final class LoadReport {

    private LoadReport() {}

    /** @param conditions the conditions of the run, one line each */
    public static String markdown(List<LoadRun.Round> rounds, List<String> conditions) {
        StringBuilder text = new StringBuilder("""
                # Submissions under load

                Made by `qm load`. The *ceiling* is the rate of an authenticated insert of one row in a transaction with
                row-level security, on the same service in the same run. A submission does more: admission in Redis, two
                rows, a wake-up, and a plan and a commit of the leader. *Bound* is the time from sending a submission
                until a client sees in the live view that the workload holds its devices. The run alternates inserts and
                submissions, and the part of the ceiling is the median of the pairs. A batch has 1,000 submissions, and
                goes into a queue whose work waits.

                """);
        conditions.forEach(line -> text.append("- ").append(line).append('\n'));
        text.append("""

                | clients | ceiling /s | p50, p99 ms | submissions /s | of ceiling | p50, p99 ms | bound p50, p99 ms | in batches /s | of ceiling |
                | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
                """);
        for (LoadRun.Round round : rounds) {
            double ceiling = round.ceiling().perSecond();
            text.append(String.format(
                    Locale.ROOT,
                    "| %d | %.0f | %s | %.0f | %.2f | %s | %s | %.0f | %.2f |%n",
                    round.ceiling().clients(),
                    ceiling,
                    pair(round.ceiling().answer()),
                    round.single().perSecond(),
                    round.ceilingRatio(),
                    pair(round.single().answer()),
                    pair(round.bound()) + (round.unseen() == 0 ? "" : " (" + round.unseen() + " not seen)"),
                    round.batch().perSecond(),
                    round.batch().perSecond() / ceiling));
        }
        text.append("""

                Processor time of one row or submission in ms, of the service and of PostgreSQL, with all work that it causes
                (the leader's included):

                | clients | ceiling: service | PostgreSQL | submission: service | PostgreSQL | in batches: service | PostgreSQL |
                | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
                """);
        for (LoadRun.Round round : rounds) {
            text.append(String.format(
                    Locale.ROOT,
                    "| %d | %s | %s | %s |%n",
                    round.ceiling().clients(),
                    processors(round.ceiling()),
                    processors(round.single()),
                    processors(round.batch())));
        }
        for (LoadRun.Round round : rounds) {
            round.redisStopped()
                    .ifPresent(stopped -> text.append(String.format(
                            Locale.ROOT,
                            "%nWith Redis stopped (SIGSTOP), %d clients: %.0f submissions/s, p50 and p99 %s ms, "
                                    + "%d refused.%n",
                            stopped.clients(),
                            stopped.perSecond(),
                            pair(stopped.answer()),
                            stopped.refused())));
        }
        long refused = rounds.stream()
                .mapToLong(round -> round.ceiling().refused()
                        + round.single().refused()
                        + round.batch().refused())
                .sum();
        text.append(String.format(
                Locale.ROOT,
                "%nRequests that the overloaded service refused, or did not answer within a minute: %d.%n",
                refused));
        return text.toString();
    }

    private static String processors(LoadRun.Figures figures) {
        return String.format(
                Locale.ROOT,
                "%.3f | %.3f",
                figures.processors().service() / 1e6,
                figures.processors().database() / 1e6);
    }

    private static String pair(LatencyRecorder latencyRecorder) {
        return String.format(
                Locale.ROOT, "%.1f, %.1f", latencyRecorder.percentileMillis(50), latencyRecorder.percentileMillis(99));
    }
}
