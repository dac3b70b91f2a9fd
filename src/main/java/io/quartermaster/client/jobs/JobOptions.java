package io.quartermaster.client.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.TextStyle;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of a job beside those of its work: its name, variables and labels. */
final class JobOptions {

    @Option(
            names = "--name",
            paramLabel = "NAME",
            description = "Name of the job. Default: that of the program, or of the cloned job")
    private @Nullable String name;

    @Option(
            names = {"-e", "--env"},
            paramLabel = "KEY=VALUE",
            description = "Environment variable; KEY alone passes on your own. Put no secrets here")
    private List<String> environment = new ArrayList<>();

    @Option(
            names = {"-l", "--label"},
            paramLabel = "KEY=VALUE",
            description = "Label of the job")
    private List<String> labels = new ArrayList<>();

    @Option(
            names = "--on-stop",
            paramLabel = "COMMAND",
            description = "Shell command that runs before the job is stopped, for example to write a checkpoint")
    private @Nullable String onStop;

    @Option(names = "--hold", description = "Do not start it before qm release")
    private boolean hold;

    /**
     * Writes the given options into a body, in place of what it has.
     *
     * @param own the variables of this process
     */
    void writeTo(ObjectNode body, Map<String, String> own) {
        if (name != null) {
            body.put("name", name);
        }
        if (!environment.isEmpty()) {
            ObjectNode variables = mapping(body, "environment", "--env");
            pairs("--env", environment, own).forEach(variables::put);
        }
        if (!labels.isEmpty()) {
            ObjectNode all = mapping(body, "labels", "--label");
            pairs("--label", labels, Map.of()).forEach(all::put);
        }
        if (onStop != null) {
            body.putArray("abortCallback").add("sh").add("-c").add(onStop);
        }
        if (hold) {
            body.put("hold", true);
        }
    }

    /** The object in a field of a body, which is made if it is absent. */
    private static ObjectNode mapping(ObjectNode body, String field, String option) {
        JsonNode present = body.path(field);
        if (present.isMissingNode() || present.isNull()) {
            return body.putObject(field);
        }
        if (present instanceof ObjectNode object) {
            return object;
        }
        throw CommandFailure.usage(
                field + " in the file is no mapping of names to values, so " + option + " cannot add to it");
    }

    /** Reads pairs such as {@code A=1}; {@code A} alone stands for a known variable. */
    static Map<String, String> pairs(String option, List<String> given, Map<String, String> known) {
        Map<String, String> pairs = new LinkedHashMap<>();
        for (String pair : given) {
            int equals = pair.indexOf('=');
            if (equals > 0) {
                pairs.put(pair.substring(0, equals), pair.substring(equals + 1));
            } else if (known.containsKey(pair)) {
                String value = Objects.requireNonNull(known.get(pair));
                if (!TextStyle.isDecoded(value)) {
                    throw CommandFailure.usage(option + " " + pair + ": the letters of your variable are not those of"
                            + " your locale. Set LC_ALL to a locale of UTF-8, such as C.UTF-8");
                }
                pairs.put(pair, value);
            } else {
                throw CommandFailure.usage(option + " " + pair + " is not KEY=VALUE"
                        + (option.equals("--env") && equals < 0 ? ", and you have no variable " + pair : ""));
            }
        }
        return pairs;
    }
}
