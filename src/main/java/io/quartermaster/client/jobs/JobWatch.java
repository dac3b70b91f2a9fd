package io.quartermaster.client.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.client.connection.ServiceConnection;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.ExitStatus;
import io.quartermaster.client.output.LocalTimes;
import io.quartermaster.client.output.TextStyle;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Watches one workload until it ends: prints its states, and its output if asked to. */
final class JobWatch {

    private static final Duration INTERVAL = Duration.ofSeconds(1);
    /** The most characters of output that the service returns. */
    private static final int TAIL = 65_536;

    private final ServiceConnection service;
    private final PrintWriter out;
    private final PrintWriter err;
    private final TextStyle style;
    private final LocalTimes times;
    private final Map<Integer, LogTail> logs = new LinkedHashMap<>();

    JobWatch(ServiceConnection service, PrintWriter out, PrintWriter err, TextStyle style, LocalTimes times) {
        this.service = service;
        this.out = out;
        this.err = err;
        this.style = style;
        this.times = times;
    }

    /** Prints states, and with {@code follow} the output, until the workload ends; {@code OK} if it succeeded. */
    ExitStatus untilEnd(String id, boolean follow) {
        String shown = "";
        while (true) {
            JsonNode details = service.get(service.path("workloads", id));
            JsonNode workload = details.path("workload");
            boolean ended = WorkloadFinder.hasEnded(workload);
            if (follow) {
                printNewOutput(id, details, true);
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
        while (true) {
            JsonNode details = service.get(service.path("workloads", id));
            if (attempt == null) {
                printNewOutput(id, details, false);
            } else {
                print(id, attempt);
            }
            boolean over = WorkloadFinder.hasEnded(details.path("workload"))
                    || (attempt != null && hasEnded(details, attempt));
            if (over || out.checkError()) {
                return;
            }
            pause();
        }
    }

    private static boolean hasEnded(JsonNode details, int attempt) {
        for (JsonNode one : details.path("attempts")) {
            if (one.path("number").asInt() == attempt) {
                return one.hasNonNull("endedAt");
            }
        }
        return false;
    }

    private void printNewOutput(String id, JsonNode details, boolean all) {
        List<Integer> numbers = new ArrayList<>();
        details.path("attempts")
                .forEach(attempt -> numbers.add(attempt.path("number").asInt()));
        numbers.sort(Integer::compare);
        boolean isFirst = logs.isEmpty();
        for (int number : numbers) {
            boolean newest = number == numbers.getLast();
            // At the beginning, earlier attempts are history; later on, the end of one may not have been read yet.
            if (newest || all || (!isFirst && logs.containsKey(number))) {
                if (number > 1 && !logs.containsKey(number)) {
                    err.println(style.faint("qm: ") + "attempt " + number);
                    err.flush();
                }
                print(id, number);
                if (!newest && hasEnded(details, number)) {
                    logs.computeIfAbsent(number, any -> new LogTail()).close();
                }
            }
        }
    }

    private void print(String id, int attempt) {
        LogTail log = logs.computeIfAbsent(attempt, any -> new LogTail());
        if (log.isClosed()) {
            return;
        }
        String text = service.get(
                        service.path("workloads", id, "logs"),
                        Map.of("attempt", Integer.toString(attempt), "bytes", Integer.toString(TAIL)))
                .asText("");
        LogTail.Growth growth = log.advanceTo(text);
        if (growth.hasGap()) {
            err.println(style.faint("qm: ") + "some output came too fast and is left out here");
            err.flush();
        }
        out.print(growth.text());
        out.flush();
    }

    private String describe(JsonNode workload) {
        String state = workload.path("state").asText();
        String reason =
                workload.path("reason").asText(workload.path("endReason").asText(""));
        return style.state(state) + (reason.isEmpty() ? "" : " (" + times.inSentence(reason) + ")");
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
