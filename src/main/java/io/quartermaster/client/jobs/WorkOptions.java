package io.quartermaster.client.jobs;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.ReadableDuration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that describe work, of {@code qm submit} and {@code qm try}. */
final class WorkOptions {

    @Option(
            names = {"-q", "--queue"},
            paramLabel = "QUEUE",
            description = "Queue to submit to; qm queues lists yours")
    private @Nullable String queue;

    @Option(names = "--gpus", paramLabel = "N", description = "GPUs per worker, if the queue's profile has a range")
    private @Nullable String gpus;

    @Option(
            names = "--min-gpus",
            paramLabel = "N",
            description = "Start with as few as N GPUs per worker if all are not free")
    private @Nullable String minGpus;

    @Option(
            names = "--workers",
            paramLabel = "N",
            description = "Refuse unless the queue's profile has N workers; a profile decides the number")
    private @Nullable Integer workers;

    @Option(
            names = "--type",
            paramLabel = "TYPE",
            description = "training, distributed-training, inference, workspace or service. Default: training")
    private @Nullable String type;

    @Option(
            names = "--max-runtime",
            paramLabel = "TIME",
            description = "Stop it after this time, such as 90m or 2h, or none. Forecasts rely on it")
    private @Nullable String maxRuntime;

    @Option(names = "--priority", paramLabel = "N", description = "Higher goes first within your group")
    private @Nullable Integer priority;

    @Option(
            names = "--preemptible",
            negatable = true,
            fallbackValue = "true",
            description = "Whether the scheduler may stop it for other work. Default: as its type says")
    private @Nullable Boolean preemptible;

    @Option(names = "--dedicated-only", description = "Run only within what is reserved for your group")
    private boolean dedicatedOnly;

    /** The word of {@code --max-runtime} for work without a maximum run time. */
    static final String NONE = "none";

    @Nullable
    String queue() {
        return queue;
    }

    @Nullable
    Integer workers() {
        return workers;
    }

    /** Writes the given options into a body, in place of what it has. */
    void writeTo(ObjectNode body) {
        put(body, "queue", queue);
        put(body, "type", type);
        put(body, "gpus", gpus);
        put(body, "minGpus", minGpus);
        if (maxRuntime != null) {
            putMaxRuntime(body, maxRuntime);
        }
        if (priority != null) {
            body.put("priority", priority);
        }
        if (preemptible != null) {
            body.put("preemptible", preemptible);
        }
        if (dedicatedOnly) {
            body.put("dedicatedOnly", true);
        }
    }

    /** Writes a maximum run time, or null for none, which takes away that of a cloned or waiting job. */
    static void putMaxRuntime(ObjectNode body, String text) {
        if (text.equals(NONE)) {
            body.putNull("maxRuntime");
        } else {
            body.put("maxRuntime", duration("--max-runtime", text));
        }
    }

    private static void put(ObjectNode body, String field, @Nullable String value) {
        if (value != null) {
            body.put(field, value);
        }
    }

    /** A duration as the API writes it. Fails with a message that names the option. */
    static String duration(String option, String text) {
        try {
            return ReadableDuration.parse(text).toString();
        } catch (IllegalArgumentException e) {
            throw CommandFailure.usage(option + ": " + e.getMessage());
        }
    }
}
