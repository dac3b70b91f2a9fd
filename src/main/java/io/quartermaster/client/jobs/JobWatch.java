package io.quartermaster.client.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.client.connection.EventStream;
import io.quartermaster.client.connection.OutagePatience;
import io.quartermaster.client.connection.ServiceConnection;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.ExitStatus;
import io.quartermaster.client.output.LocalTimes;
import io.quartermaster.client.output.TextStyle;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Watches one workload until it ends: prints its states, and its output if asked to. */
final class JobWatch {

    private static final Duration INTERVAL = Duration.ofSeconds(1);

    /** How long the rest of the output may take to arrive after the end of the work. */
    private static final Duration LAST_OUTPUT = Duration.ofSeconds(20);

    /** The begin of the first attempt's output, as an id of the log stream. */
    private static final String FROM_THE_BEGIN = "1:0:0";

    private final ServiceConnection service;
    private final PrintWriter out;
    private final PrintWriter err;
    private final TextStyle style;
    private final LocalTimes times;
    private final boolean forTerminal;

    JobWatch(
            ServiceConnection service,
            PrintWriter out,
            PrintWriter err,
            TextStyle style,
            LocalTimes times,
            boolean forTerminal) {
        this.service = service;
        this.out = out;
        this.err = err;
        this.style = style;
        this.times = times;
        this.forTerminal = forTerminal;
    }

    /** Prints states, and with {@code follow} the output, until the workload ends; {@code OK} if it succeeded. */
    ExitStatus untilEnd(String id, boolean follow) {
        OutagePatience patience = new OutagePatience(err, OutagePatience.DEFAULT);
        @Nullable Thread output = follow ? Thread.ofVirtual().start(() -> printOutput(id)) : null;
        String shown = "";
        while (true) {
            JsonNode workload = service.getPatiently(service.path("workloads", id), Map.of(), patience)
                    .path("workload");
            boolean ended = WorkloadFinder.hasEnded(workload);
            if (ended && output != null) {
                awaitEnd(output, id);
            }
            String state = describe(workload);
            if (!state.equals(shown)) {
                err.println(style.faint("qm: ") + workload.path("name").asText() + ": " + state);
                err.flush();
                shown = state;
            }
            if (ended) {
                return workload.path("state").asText().equals("succeeded") ? ExitStatus.OK : ExitStatus.FAILED;
            }
            pause();
        }
    }

    /** Prints the output until the workload ends, with the attempts that begin meanwhile. */
    void followOutput(String id, @Nullable Integer attempt) {
        follow(id, attempt == null ? Map.of() : Map.of("attempt", attempt.toString()), "");
    }

    private void printOutput(String id) {
        try {
            follow(id, Map.of(), FROM_THE_BEGIN);
        } catch (CommandFailure e) {
            err.println(style.faint("qm: ") + "the output cannot be followed: " + TextStyle.printable(e.text()));
            err.flush();
        }
    }

    private void follow(String id, Map<String, String> query, String lastId) {
        new EventStream(
                        service,
                        service.path("workloads", id, "logs", "stream"),
                        query,
                        lastId,
                        new LogPrinter(out, err, style, forTerminal))
                .read();
    }

    private void awaitEnd(Thread output, String id) {
        try {
            if (!output.join(LAST_OUTPUT)) {
                err.println(style.faint("qm: ") + "the output is not complete here; see its end with: qm logs " + id);
                err.flush();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private String describe(JsonNode workload) {
        String state = workload.path("state").asText();
        String reason =
                workload.path("reason").asText(workload.path("endReason").asText(""));
        return style.state(state)
                + (reason.isEmpty() ? "" : " (" + times.inSentence(TextStyle.printable(reason)) + ")");
    }

    private static void pause() {
        try {
            Thread.sleep(INTERVAL);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandFailure(ExitStatus.FAILED, "interrupted");
        }
    }
}
