package io.quartermaster.workloads;

import io.quartermaster.governance.rules.SubmissionRights;
import io.quartermaster.platform.EnumNames;
import io.quartermaster.platform.GpuAmount;
import io.quartermaster.platform.http.PrintableText;
import io.quartermaster.platform.http.ProblemException.Invalid;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.regex.Pattern;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/**
 * What a member submits, as it was sent: anything may be absent until {@link #check} has passed.
 *
 * @param queue name of the queue
 * @param priority higher goes first within the group; the type's own when absent, but not above what the policy allows
 * @param preemptible the type's own when absent
 * @param dedicatedOnly to run only within what is reserved
 * @param abortCallback run before it is stopped, within the policy's grace time
 * @param gpus of one worker, where the profile lets the workload choose
 * @param minGpus with how many of them it starts where it cannot have all
 * @param maxRuntime it is stopped when it has run that long
 * @param hold not to be started before it is released
 */
@Schema(name = "Submission")
public record Submission(
        @Schema(required = true, pattern = "^[a-z0-9][a-z0-9-]{0,126}$") @Nullable
        String queue,

        @Schema(required = true, minLength = 1, maxLength = MAX_NAME) @Nullable
        String name,

        @Schema(required = true) @Nullable WorkloadType type,

        @Schema(required = true, minItems = 1, maxItems = MAX_WORDS) @Nullable
        List<@Nullable String> command,

        @Schema(maxProperties = MAX_VARIABLES) @Nullable Map<String, @Nullable String> environment,

        @Schema(minItems = 1, maxItems = MAX_WORDS) @Nullable
        List<@Nullable String> abortCallback,

        @Schema(minimum = "0", maximum = "1000") @Nullable Integer priority,

        @Nullable Boolean preemptible,
        @Nullable Boolean dedicatedOnly,

        @Schema(
                description =
                        "whole GPUs of one worker, within the range of the queue's profile; absent: the profile's gpus",
                examples = "4")
        @Nullable
        GpuAmount gpus,

        @Schema(
                description =
                        "with how many of them it starts, at the least, where it cannot have all; it gets no more of them in that attempt; absent: all",
                examples = "2")
        @Nullable
        GpuAmount minGpus,

        @Nullable Duration maxRuntime,
        @Schema(maxProperties = MAX_LABELS) @Nullable Map<String, @Nullable String> labels,

        @Nullable Boolean hold) {

    public static final int MAX_NAME = 128;
    public static final int MAX_WORDS = 256;
    public static final int MAX_COMMAND_CHARS = 65_536;
    public static final int MAX_VARIABLES = 256;
    public static final int MAX_ENVIRONMENT_CHARS = 65_536;
    public static final int MAX_LABELS = 64;
    public static final int MAX_LABEL_CHARS = 256;
    public static final int MAX_PRIORITY = SubmissionRights.HIGHEST_PRIORITY;
    public static final Duration MAX_RUNTIME = Duration.ofDays(365);

    private static final long WHOLE_GPU = 1_000;
    private static final Pattern QUEUE = Pattern.compile("[a-z0-9][a-z0-9-]{0,126}");
    private static final Pattern VARIABLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,127}");
    private static final Pattern RESERVED_VARIABLE =
            Pattern.compile("QM_.*|CUDA_VISIBLE_DEVICES|CUDA_DEVICE_ORDER|NVIDIA_VISIBLE_DEVICES");
    private static final Pattern LABEL = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._/-]{0,126}");
    private static final String TEXT = "text without NUL and without halves of surrogate pairs";

    /** Notes everything that is wrong; {@code at} is put before each field's name. */
    void check(String at, Invalid invalid) {
        invalid.check(
                queue != null && QUEUE.matcher(queue).matches(),
                at + "queue",
                queue == null ? "a submission names its queue" : "not a name of a queue",
                "a name such as research-single: lower-case letters, digits and hyphens, up to 127");
        invalid.check(
                name != null && !name.isBlank() && name.length() <= MAX_NAME && isLine(name),
                at + "name",
                name == null ? "a submission has a name" : "not a name",
                "1 to " + MAX_NAME + " characters on one line, not all of them blank");
        invalid.check(type != null, at + "type", "a submission has a type", types());
        if (command == null) {
            invalid.add(at + "command", "a submission has a command", words());
        } else {
            checkWords(command, at + "command", invalid);
        }
        if (abortCallback != null) {
            checkWords(abortCallback, at + "abortCallback", invalid);
        }
        checkEnvironment(at, invalid);
        checkGpus(gpus, at + "gpus", invalid);
        checkGpus(minGpus, at + "minGpus", invalid);
        checkLabels(at, invalid);
        invalid.check(
                priority == null || priority >= 0 && priority <= MAX_PRIORITY,
                at + "priority",
                "out of range",
                "0 to " + MAX_PRIORITY);
        invalid.check(
                maxRuntime == null
                        || maxRuntime.compareTo(Duration.ofSeconds(1)) >= 0 && maxRuntime.compareTo(MAX_RUNTIME) <= 0,
                at + "maxRuntime",
                "out of range",
                "an ISO-8601 duration from PT1S to " + MAX_RUNTIME);
    }

    /** How many whole GPUs a worker is to have, if the submission says so. */
    OptionalInt namedGpus() {
        return gpus == null ? OptionalInt.empty() : OptionalInt.of(Math.toIntExact(gpus.milli() / WHOLE_GPU));
    }

    /** With how many it starts where it cannot have all, if the submission says so. */
    OptionalInt namedMinGpus() {
        return minGpus == null ? OptionalInt.empty() : OptionalInt.of(Math.toIntExact(minGpus.milli() / WHOLE_GPU));
    }

    /** Notes what is wrong with an amount of GPUs, whatever the profile. */
    public static void checkGpus(@Nullable GpuAmount gpus, String field, Invalid invalid) {
        invalid.check(
                gpus == null || gpus.milli() > 0 && gpus.milli() % WHOLE_GPU == 0,
                field,
                "is not a whole number of GPUs",
                "a whole number within the range of the profile, such as \"4\"");
    }

    DesiredState wish() {
        return Boolean.TRUE.equals(hold) ? DesiredState.HOLD : DesiredState.RUN;
    }

    /** The type of a submission that was checked. */
    WorkloadType known() {
        if (type == null) {
            throw new IllegalStateException("a submission without a type passed its check");
        }
        return type;
    }

    /** The queue of a submission that was checked. */
    String knownQueue() {
        if (queue == null) {
            throw new IllegalStateException("a submission without a queue passed its check");
        }
        return queue;
    }

    private static void checkWords(List<@Nullable String> words, String field, Invalid invalid) {
        if (words.isEmpty() || words.size() > MAX_WORDS) {
            invalid.add(field, "it has " + words.size() + " words", words());
            return;
        }
        long chars = 0;
        for (int i = 0; i < words.size(); i++) {
            String word = words.get(i);
            if (word == null || !isText(word)) {
                invalid.add(field + "[" + i + "]", "not a word of a command", TEXT);
                return;
            }
            chars += word.length();
        }
        String first = words.getFirst();
        invalid.check(
                first != null && !first.isBlank(), field + "[0]", "the program to run is blank", "a program's name");
        invalid.check(chars <= MAX_COMMAND_CHARS, field, "it has " + chars + " characters", words());
    }

    private void checkEnvironment(String at, Invalid invalid) {
        if (environment == null) {
            return;
        }
        String field = at + "environment";
        invalid.check(
                environment.size() <= MAX_VARIABLES,
                field,
                "it has " + environment.size() + " variables",
                "up to " + MAX_VARIABLES + " variables");
        long chars = 0;
        for (Map.Entry<String, @Nullable String> variable : environment.entrySet()) {
            String key = variable.getKey();
            String value = variable.getValue();
            if (!VARIABLE.matcher(key).matches()
                    || RESERVED_VARIABLE.matcher(key).matches()) {
                invalid.add(
                        field,
                        "a variable cannot be called \"" + shown(key) + "\"",
                        "letters, digits and underscores; not QM_..., which like CUDA_VISIBLE_DEVICES is set where it runs");
                return;
            }
            if (value == null || !isText(value)) {
                invalid.add(field + "." + key, "not a value of a variable", TEXT);
                return;
            }
            chars += key.length() + value.length();
        }
        invalid.check(
                chars <= MAX_ENVIRONMENT_CHARS,
                field,
                "it has " + chars + " characters",
                "up to " + MAX_ENVIRONMENT_CHARS + " characters in all");
    }

    private void checkLabels(String at, Invalid invalid) {
        if (labels == null) {
            return;
        }
        String field = at + "labels";
        invalid.check(
                labels.size() <= MAX_LABELS, field, "there are " + labels.size(), "up to " + MAX_LABELS + " labels");
        for (Map.Entry<String, @Nullable String> label : labels.entrySet()) {
            String value = label.getValue();
            if (!LABEL.matcher(label.getKey()).matches()
                    || value == null
                    || value.length() > MAX_LABEL_CHARS
                    || !isText(value)) {
                invalid.add(
                        field,
                        "\"" + shown(label.getKey()) + "\" is not a label, or its value not one",
                        "a key of letters, digits and ._/- up to 127, and a text up to " + MAX_LABEL_CHARS);
                return;
            }
        }
    }

    private static String types() {
        return EnumNames.accepted(WorkloadType.class);
    }

    private static String words() {
        return "1 to " + MAX_WORDS + " words with up to " + MAX_COMMAND_CHARS + " characters in all";
    }

    /** What can be stored and handed to a process: PostgreSQL has no NUL in texts, nor has an argument of a program. */
    private static boolean isText(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == 0 || Character.isLowSurrogate(c)) {
                return false;
            }
            if (Character.isHighSurrogate(c)) {
                i++;
                if (i == text.length() || !Character.isLowSurrogate(text.charAt(i))) {
                    return false;
                }
            }
        }
        return true;
    }

    private static boolean isLine(String text) {
        return PrintableText.isPrintable(text);
    }

    /** A piece of what was sent, fit to stand in an answer. */
    private static String shown(String text) {
        String line = text.codePoints()
                .limit(40)
                .map(c -> Character.isISOControl(c) || Character.getType(c) == Character.SURROGATE ? '?' : c)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
        return line.length() < text.length() ? line + "..." : line;
    }
}
