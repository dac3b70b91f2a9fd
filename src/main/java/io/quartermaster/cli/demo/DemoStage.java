package io.quartermaster.cli.demo;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.agent.DemonstrationProgram;
import io.quartermaster.cli.demo.ApiClient.ApiFailure;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

/**
 * Watches the demonstration's workloads through the API; prints each change once, in the order in which it sees them.
 */
public final class DemoStage {

    private static final Duration POLL_INTERVAL = Duration.ofMillis(250);
    private static final Duration STEP_DURATION = Duration.ofMillis(500);

    private final PrintWriter out;
    private final Duration timeout;
    private final long startedNanos = System.nanoTime();
    private final List<Actor> actors = new ArrayList<>();

    public DemoStage(PrintWriter out, Duration timeout) {
        this.out = out;
        this.timeout = timeout;
    }

    /** One workload of the story. */
    final class Actor {
        private final ApiClient owner;
        private final String tenant;
        private final String name;
        private final String id;
        private final Map<String, String> lastPrinted = new HashMap<>();
        private JsonNode details;
        private final Set<String> reasonsSeen = new HashSet<>();
        private boolean hasRun;

        private Actor(ApiClient owner, String tenant, String name, JsonNode submitted) {
            this.owner = owner;
            this.tenant = tenant;
            this.name = name;
            this.id = submitted.path("id").asText();
            this.details = submitted;
        }

        String state() {
            return details.path("workload").path("state").asText();
        }

        String reason() {
            return details.path("workload").path("reason").asText();
        }

        String describe() {
            return name + " is " + state() + (state().equals("waiting") ? reasonText() : "");
        }

        String name() {
            return name;
        }

        /** Whether it was seen waiting for this reason, now or earlier. */
        boolean hasWaitedFor(String code) {
            return reasonsSeen.contains(code);
        }

        /** Whether it was seen running, or done. After the service is killed it may show neither for some time. */
        boolean hasRun() {
            return hasRun;
        }

        /**
         * Whether it received a stop notice, has stopped, and waits again or has started again; or ended within its
         * grace.
         */
        boolean wasPreempted() {
            return preemptions() > 0 && (state().equals("waiting") || state().equals("succeeded") || attempts() > 1);
        }

        /** Whether an attempt of it was lost because its node was silent. */
        boolean wasLost() {
            return details.path("attempts").findValuesAsText("outcome").contains("lost");
        }

        /**
         * Whether an attempt of it had worked for a step when the stop notice came. An attempt that stops at its start
         * has saved nothing.
         */
        boolean hadProgressToSave() {
            for (JsonNode attempt : details.path("attempts")) {
                if (attempt.hasNonNull("startedAt") && attempt.hasNonNull("stoppingAt")) {
                    Instant started = Instant.parse(attempt.path("startedAt").asText());
                    if (started.plus(STEP_DURATION)
                            .isBefore(Instant.parse(attempt.path("stoppingAt").asText()))) {
                        return true;
                    }
                }
            }
            return false;
        }

        int preemptions() {
            return details.path("preemptions").size();
        }

        String log(int attempt) {
            return owner.require(owner.get(path() + "/logs?attempt=" + attempt)).asText();
        }

        int attempts() {
            return details.path("workload").path("attempts").asInt();
        }

        private String path() {
            return "/v1/tenants/" + tenant + "/workloads/" + id;
        }

        private void refresh() {
            details = owner.require(owner.get(path()));
            String state = state();
            if (state.equals("waiting")) {
                reasonsSeen.add(reason());
            }
            hasRun |= state.equals("running") || state.equals("succeeded");
            String text =
                    switch (state) {
                        case "waiting" -> "waiting" + reasonText();
                        case "starting", "running" -> state + ", attempt " + attempts();
                        default -> state;
                    };
            if (recordIfChanged("state", text)) {
                printLine(String.format(Locale.ROOT, "  %-7s %-4s %s", tenant, name, text));
            }
            JsonNode preemptions = details.path("preemptions");
            if (preemptions.size() > 0 && recordIfChanged("preemptions", Integer.toString(preemptions.size()))) {
                JsonNode last = newest(preemptions);
                printLine(String.format(
                        Locale.ROOT,
                        "  %-7s %-4s is being stopped: %s%s, by right of %s",
                        tenant,
                        name,
                        last.path("cause").asText(),
                        preemptorText(last.path("forWorkload").asText("")),
                        last.path("receipt").path("right").asText("?")));
            }
        }

        private String reasonText() {
            JsonNode reason = details.path("reasons").path(0);
            return reason.isMissingNode()
                    ? ""
                    : ": " + reason.path("code").asText() + ", "
                            + reason.path("sentence").asText();
        }

        /**
         * The sentence of a reason contains changing numbers; a line is printed only when the state or the code
         * changes.
         */
        private boolean recordIfChanged(String what, String now) {
            int cut = now.indexOf(',');
            String key = now.startsWith("waiting") && cut > 0 ? now.substring(0, cut) : now;
            return !key.equals(lastPrinted.put(what, key));
        }
    }

    private static JsonNode newest(JsonNode preemptions) {
        JsonNode newest = preemptions.path(0);
        for (JsonNode each : preemptions) {
            if (each.path("at").asText().compareTo(newest.path("at").asText()) > 0) {
                newest = each;
            }
        }
        return newest;
    }

    private String preemptorText(String id) {
        return actors.stream()
                .filter(actor -> actor.id.equals(id))
                .map(actor -> " for " + actor.name)
                .findFirst()
                .orElse("");
    }

    Actor submit(ApiClient owner, String tenant, String queue, String name, int steps) {
        Map<String, Object> submission = Map.of(
                "queue",
                queue,
                "name",
                name,
                "type",
                "training",
                "command",
                DemonstrationProgram.COMMAND,
                "abortCallback",
                DemonstrationProgram.ABORT_CALLBACK,
                "environment",
                DemonstrationProgram.environment(steps));
        JsonNode submitted = owner.require(owner.post("/v1/tenants/" + tenant + "/workloads", submission));
        Actor actor = new Actor(owner, tenant, name, submitted);
        actors.add(actor);
        return actor;
    }

    boolean hasLostWork() {
        return actors.stream().anyMatch(Actor::wasLost);
    }

    /** Watches until the condition is true, and prints the changes meanwhile. */
    void awaitCondition(String what, BooleanSupplier condition) {
        long end = System.nanoTime() + timeout.toNanos();
        while (true) {
            actors.forEach(Actor::refresh);
            if (condition.getAsBoolean()) {
                return;
            }
            if (System.nanoTime() > end) {
                throw new ApiFailure(
                        "The demonstration waited " + timeout.toSeconds() + " s in vain until " + what + ". Now: "
                                + actors.stream().map(Actor::describe).collect(Collectors.joining(", "))
                                + ". The demonstration needs its initial rules, and GPUs that no other work uses:"
                                + " if those have changed, restore them, or start again with qm down, qm reset "
                                + "and qm up.");
            }
            pause();
        }
    }

    void printScene(String text) {
        printLine("");
        printLine(text);
    }

    void printLine(String text) {
        out.printf(Locale.ROOT, "%6.1f s  %s%n", (System.nanoTime() - startedNanos) / 1e9, text);
        out.flush();
    }

    public static void pause() {
        try {
            Thread.sleep(POLL_INTERVAL);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ApiFailure("Interrupted");
        }
    }
}
