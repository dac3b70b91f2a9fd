package io.quartermaster.client.commands;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.client.connection.ServiceConnection;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.ExitStatus;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code qm submit}: submits work to a queue. */
@Command(
        name = "submit",
        description = {
            "Submits a job to a queue and prints its id. The job is a command with its arguments, which no shell reads.",
            "With -f the job, or several of them, is in a file with the fields of the API's submission; options replace its "
                    + "fields. The service takes all jobs of a file or none."
        },
        exitCodeList = {
            "0:submitted; with --wait or --follow: it succeeded",
            "1:with --wait or --follow: it failed or was cancelled",
            "2:an option or a file is wrong, or no server is chosen",
            "3:you are not signed in",
            "4:there is no such queue, or you may not see it",
            "5:the service refused the job",
            "6:the service does not answer"
        },
        footer = {
            "%nExamples:%n",
            "  qm submit -q nlp-1gpu -- python train.py --epochs 3",
            "  qm submit -q nlp-1gpu --env SEED=7 --max-runtime 2h --follow -- sh -c 'echo $SEED'",
            "  qm submit -f job.yaml --dry-run"
        })
final class SubmitCommand extends PersonCommand {

    @Mixin
    private WorkOptions work = new WorkOptions();

    @Option(names = "--name", paramLabel = "NAME", description = "Name of the job. Default: that of the program")
    private @Nullable String name;

    @Option(
            names = {"-e", "--env"},
            paramLabel = "KEY=VALUE",
            description = "Environment variable; KEY alone passes on your own. Put no secrets here")
    private List<String> environmentOptions = new ArrayList<>();

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

    @Option(
            names = {"-f", "--file"},
            paramLabel = "FILE",
            description = "Read the job from a YAML or JSON file; - is standard input")
    private @Nullable String file;

    @Option(names = "--dry-run", description = "Check everything and submit nothing")
    private boolean dryRun;

    @ArgGroup
    private @Nullable Waiting waiting;

    /** What to do after the submission. */
    static final class Waiting {
        @Option(names = "--wait", description = "Wait until the job ends; its outcome decides the exit code")
        private boolean wait;

        @Option(names = "--follow", description = "Print the job's output until it ends, as --wait")
        private boolean follow;
    }

    @Parameters(paramLabel = "COMMAND", arity = "0..*", description = "Program and arguments, after --")
    private List<String> command = new ArrayList<>();

    SubmitCommand(ClientEnvironment environment) {
        super(environment);
    }

    @Override
    ExitStatus run() {
        List<ObjectNode> bodies = bodies();
        boolean watches = waiting != null;
        if (watches && (dryRun || bodies.size() > 1)) {
            throw CommandFailure.usage("--wait and --follow are for one job that is submitted");
        }
        ServiceConnection service = service();
        if (work.workers() != null) {
            for (ObjectNode body : bodies) {
                requireWorkers(service, body.path("queue").asText(), work.workers());
            }
        }
        Map<String, String> query = dryRun ? Map.of("dryRun", "true") : Map.of();
        JsonNode answer = bodies.size() == 1
                ? service.post(service.path("workloads"), query, bodies.getFirst())
                : service.post(service.path("workloads", "batches"), query, batch(bodies));
        if (dryRun) {
            printDryRun(answer, bodies.size());
            return ExitStatus.OK;
        }
        List<JsonNode> submitted = new ArrayList<>();
        if (bodies.size() == 1) {
            submitted.add(answer);
        } else {
            answer.path("items").forEach(submitted::add);
        }
        printSubmitted(answer, submitted, watches);
        Waiting chosen = waiting;
        return chosen == null
                ? ExitStatus.OK
                : new JobWatch(service, out(), err(), style(), times())
                        .untilEnd(submitted.getFirst().path("id").asText(), chosen.follow);
    }

    private void printSubmitted(JsonNode answer, List<JsonNode> submitted, boolean watches) {
        List<String> ids =
                submitted.stream().map(item -> item.path("id").asText()).toList();
        if (watches && isTable()) {
            remark("Submitted " + ids.getFirst() + " ("
                    + submitted.getFirst().path("name").asText() + ").");
            return;
        }
        print(answer, ids, () -> {
            ids.forEach(out()::println);
            remark(
                    ids.size() == 1
                            ? "Follow it with: qm logs -f " + ids.getFirst() + "; see why it waits with: qm why "
                                    + ids.getFirst()
                            : ids.size() + " jobs are submitted.");
        });
    }

    private void printDryRun(JsonNode answer, int count) {
        print(answer, List.of(), () -> {
            out().println((count == 1
                            ? "The service would take this job."
                            : "The service would take these " + count + " jobs.")
                    + " Nothing was submitted.");
            answer.path("warnings").forEach(warning -> out().println("Warning: " + warning.asText()));
        });
    }

    private static ObjectNode batch(List<ObjectNode> bodies) {
        ObjectNode batch = JSON.createObjectNode();
        ArrayNode items = batch.putArray("items");
        bodies.forEach(items::add);
        return batch;
    }

    private List<ObjectNode> bodies() {
        List<ObjectNode> bodies = file == null
                ? List.of(JSON.createObjectNode())
                : SubmissionFile.read(file, environment().input());
        for (ObjectNode body : bodies) {
            complete(body);
        }
        return bodies;
    }

    /** Puts the options in place of the fields of the file, and adds what may be left out. */
    private void complete(ObjectNode body) {
        work.writeTo(body);
        if (!command.isEmpty()) {
            ArrayNode words = body.putArray("command");
            command.forEach(words::add);
        }
        if (!body.hasNonNull("queue")) {
            throw CommandFailure.usage("no queue is given: add -q QUEUE; qm queues lists yours");
        }
        if (!body.has("command")) {
            throw CommandFailure.usage("no command is given: add -- COMMAND...");
        }
        if (name != null) {
            body.put("name", name);
        } else if (!body.hasNonNull("name")) {
            body.put("name", nameOf(body.path("command")));
        }
        if (!body.hasNonNull("type")) {
            body.put("type", "training");
        }
        if (!environmentOptions.isEmpty()) {
            ObjectNode variables = body.withObject("/environment");
            pairs("--env", environmentOptions, true).forEach(variables::put);
        }
        if (!labels.isEmpty()) {
            ObjectNode all = body.withObject("/labels");
            pairs("--label", labels, false).forEach(all::put);
        }
        if (onStop != null) {
            body.putArray("abortCallback").add("sh").add("-c").add(onStop);
        }
        if (hold) {
            body.put("hold", true);
        }
    }

    /** The file name of the program; of an interpreter, that of the program which it runs. */
    static String nameOf(JsonNode command) {
        String program = baseName(command.path(0).asText("job"));
        String second = command.path(1).asText("");
        boolean interpreter = program.matches("(python|node|ruby|perl|bash|sh|torchrun|java)[0-9.]*");
        boolean runsFile = !second.isEmpty() && !second.startsWith("-");
        String name = interpreter && runsFile ? baseName(second) : program;
        return name.isBlank() ? "job" : name.substring(0, Math.min(name.length(), 128));
    }

    private static String baseName(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    private Map<String, String> pairs(String option, List<String> given, boolean fromEnvironment) {
        Map<String, String> pairs = new LinkedHashMap<>();
        for (String pair : given) {
            int equals = pair.indexOf('=');
            if (equals > 0) {
                pairs.put(pair.substring(0, equals), pair.substring(equals + 1));
            } else if (equals < 0
                    && fromEnvironment
                    && environment().variables().containsKey(pair)) {
                pairs.put(pair, Objects.requireNonNull(environment().variables().get(pair)));
            } else {
                throw CommandFailure.usage(option + " " + pair + " is not KEY=VALUE"
                        + (equals < 0 && fromEnvironment ? ", and you have no variable " + pair : ""));
            }
        }
        return pairs;
    }

    private static void requireWorkers(ServiceConnection service, String queueName, int workers) {
        JsonNode queue = service.get(service.path("queues", queueName));
        int found = workersOf(service, queue.path("profile").asText());
        if (found == workers) {
            return;
        }
        List<String> others = new ArrayList<>();
        Map<String, Integer> known = new LinkedHashMap<>();
        for (JsonNode other : service.items(
                service.path("queues"), Map.of("policy", queue.path("policy").asText()), Integer.MAX_VALUE)) {
            int its = known.computeIfAbsent(other.path("profile").asText(), profile -> workersOf(service, profile));
            if (its == workers) {
                others.add(other.path("name").asText());
            }
        }
        throw new CommandFailure(
                ExitStatus.REFUSED,
                "queue " + queueName + " gives each job " + count(found, "worker") + ", and --workers asks for "
                        + workers + ". "
                        + (others.isEmpty()
                                ? "No queue of its policy gives " + workers
                                : "Use: " + String.join(" or ", others)));
    }

    private static int workersOf(ServiceConnection service, String profile) {
        return service.get(service.path("profiles", profile)).path("workers").asInt(1);
    }

    private static String count(int number, String what) {
        return number + " " + what + (number == 1 ? "" : "s");
    }
}
