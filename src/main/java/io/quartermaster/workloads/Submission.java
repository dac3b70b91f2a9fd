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
 * A member's submission as it was sent: any field may be absent until {@link #check} has passed.
 *
 * @param queue name of the queue
 * @param priority higher priorities start first within the group; absent: the type's default, up to the policy's
 *     maximum
 * @param preemptible absent: the type's default
 * @param dedicatedOnly whether it runs only within the reserved amount
 * @param abortCallback run before the workload is stopped, within the policy's grace period
 * @param gpus of one worker, if the profile lets the workload choose
 * @param minGpus the number of GPUs with which a worker starts if it cannot have all
 * @param maxRuntime the workload is stopped after this run time
 * @param hold whether it stays held until it is released
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
                        "Whole GPUs per worker, within the range of the queue's profile. Absent: the profile's number.",
                examples = "4")
        @Nullable
        GpuAmount gpus,

        @Schema(
                description =
                        "The least number of GPUs with which a worker starts if it cannot have all; that attempt then "
                                + "gets no more. Absent: all.",
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
    private static final String TEXT = "text without NUL characters and without unpaired surrogates";

    /** Collects all errors; {@code at} is the prefix of the field names. */
    void check(String at, Invalid invalid) {
        invalid.check(
                queue != null && QUEUE.matcher(queue).matches(),
                at + "queue",
                queue == null ? "is missing" : "is not a name of a queue",
                "a name such as research-single: up to 127 lower-case letters, digits and hyphens");
        invalid.check(
                name != null && !name.isBlank() && name.length() <= MAX_NAME && isLine(name),
                at + "name",
                name == null ? "is missing" : "is not a valid name",
                "1 to " + MAX_NAME + " characters on one line, not all of them blank");
        invalid.check(type != null, at + "type", "is missing", types());
        if (command == null) {
            invalid.add(at + "command", "is missing", words());
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

    /** The requested whole GPUs per worker, if stated. */
    OptionalInt namedGpus() {
        return gpus == null ? OptionalInt.empty() : OptionalInt.of(Math.toIntExact(gpus.milli() / WHOLE_GPU));
    }

    /** The least number of GPUs with which a worker starts, if stated. */
    OptionalInt namedMinGpus() {
        return minGpus == null ? OptionalInt.empty() : OptionalInt.of(Math.toIntExact(minGpus.milli() / WHOLE_GPU));
    }

    /** Collects the errors of an amount of GPUs that do not depend on the profile. */
    public static void checkGpus(@Nullable GpuAmount gpus, String field, Invalid invalid) {
        invalid.check(
                gpus == null || gpus.milli() > 0 && gpus.milli() % WHOLE_GPU == 0,
                field,
                "is not a whole number of GPUs",
                "a whole number within the range of the profile, such as \"4\"");
    }

    DesiredState desiredState() {
        return Boolean.TRUE.equals(hold) ? DesiredState.HOLD : DesiredState.RUN;
    }

    /** The type of a checked submission. */
    WorkloadType requiredType() {
        if (type == null) {
            throw new IllegalStateException("a submission without a type has passed its check");
        }
        return type;
    }

    /** The queue of a checked submission. */
    String requiredQueue() {
        if (queue == null) {
            throw new IllegalStateException("a submission without a queue has passed its check");
        }
        return queue;
    }

    private static void checkWords(List<@Nullable String> words, String field, Invalid invalid) {
        if (words.isEmpty() || words.size() > MAX_WORDS) {
            invalid.add(field, "has " + words.size() + " words", words());
            return;
        }
        long chars = 0;
        for (int i = 0; i < words.size(); i++) {
            String word = words.get(i);
            if (word == null || !isText(word)) {
                invalid.add(field + "[" + i + "]", "is not a valid word of a command", TEXT);
                return;
            }
            chars += word.length();
        }
        String first = words.getFirst();
        invalid.check(first != null && !first.isBlank(), field + "[0]", "is blank", "the name of the program to run");
        invalid.check(chars <= MAX_COMMAND_CHARS, field, "has " + chars + " characters", words());
    }

    private void checkEnvironment(String at, Invalid invalid) {
        if (environment == null) {
            return;
        }
        String field = at + "environment";
        invalid.check(
                environment.size() <= MAX_VARIABLES,
                field,
                "has " + environment.size() + " variables",
                "up to " + MAX_VARIABLES + " variables");
        long chars = 0;
        for (Map.Entry<String, @Nullable String> variable : environment.entrySet()) {
            String key = variable.getKey();
            String value = variable.getValue();
            if (!VARIABLE.matcher(key).matches()
                    || RESERVED_VARIABLE.matcher(key).matches()) {
                invalid.add(
                        field,
                        "\"" + quote(key) + "\" is not a valid name of a variable",
                        "letters, digits and underscores; not a name that the executor sets, such as QM_... or "
                                + "CUDA_VISIBLE_DEVICES");
                return;
            }
            if (value == null || !isText(value)) {
                invalid.add(field + "." + key, "is not a valid value of a variable", TEXT);
                return;
            }
            chars += key.length() + value.length();
        }
        invalid.check(
                chars <= MAX_ENVIRONMENT_CHARS,
                field,
                "has " + chars + " characters",
                "up to " + MAX_ENVIRONMENT_CHARS + " characters in all");
    }

    private void checkLabels(String at, Invalid invalid) {
        if (labels == null) {
            return;
        }
        String field = at + "labels";
        invalid.check(
                labels.size() <= MAX_LABELS,
                field,
                "has " + labels.size() + " labels",
                "up to " + MAX_LABELS + " labels");
        for (Map.Entry<String, @Nullable String> label : labels.entrySet()) {
            String value = label.getValue();
            if (!LABEL.matcher(label.getKey()).matches()
                    || value == null
                    || value.length() > MAX_LABEL_CHARS
                    || !isText(value)) {
                invalid.add(
                        field,
                        "\"" + quote(label.getKey()) + "\" is not a valid label, or its value is not valid",
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

    /**
     * Whether the text can be stored and passed to a process: neither PostgreSQL nor program arguments can hold NUL.
     */
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

    /** A part of the input, safe to show in a response. */
    private static String quote(String text) {
        String line = text.codePoints()
                .limit(40)
                .map(c -> Character.isISOControl(c) || Character.getType(c) == Character.SURROGATE ? '?' : c)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
        return line.length() < text.length() ? line + "..." : line;
    }
}
