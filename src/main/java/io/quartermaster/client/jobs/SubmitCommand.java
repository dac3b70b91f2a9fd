package io.quartermaster.client.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.connection.ServiceConnection;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.DocumentWriter;
import io.quartermaster.client.output.ExitStatus;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
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
        footer = {
            "%nExamples:%n",
            "  qm submit -q nlp-1gpu -- python train.py --epochs 3",
            "  qm submit -q nlp-1gpu --env SEED=7 --max-runtime 2h --follow -- sh -c 'echo $SEED'",
            "  qm submit -f job.yaml --dry-run"
        })
final class SubmitCommand extends SubmittingCommand {

    @Option(
            names = {"-f", "--file"},
            paramLabel = "FILE",
            description = "Read the job from a YAML or JSON file; - is standard input")
    private @Nullable String file;

    @Parameters(paramLabel = "COMMAND", arity = "0..*", description = "Program and arguments, after --")
    private List<String> command = new ArrayList<>();

    SubmitCommand(ClientEnvironment environment) {
        super(environment);
    }

    @Override
    protected ExitStatus run() {
        List<ObjectNode> bodies = bodies();
        if (watches() && (isDryRun() || bodies.size() > 1)) {
            throw CommandFailure.usage("--wait and --follow are for one job that is submitted");
        }
        ServiceConnection service = service();
        Integer workers = work().workers();
        if (workers != null) {
            for (ObjectNode body : bodies) {
                requireWorkers(service, body.path("queue").asText(), workers);
            }
        }
        JsonNode answer = bodies.size() == 1
                ? send(service, service.path("workloads"), bodies.getFirst(), "")
                : send(service, service.path("workloads", "batches"), batch(bodies), "");
        if (isDryRun()) {
            printDryRun(answer, bodies.size());
            return ExitStatus.OK;
        }
        List<JsonNode> submitted = new ArrayList<>();
        if (bodies.size() == 1) {
            submitted.add(answer);
        } else {
            answer.path("items").forEach(submitted::add);
        }
        return finish(service, answer, submitted);
    }

    private static ObjectNode batch(List<ObjectNode> bodies) {
        ObjectNode batch = DocumentWriter.JSON.createObjectNode();
        ArrayNode items = batch.putArray("items");
        bodies.forEach(items::add);
        return batch;
    }

    private List<ObjectNode> bodies() {
        List<ObjectNode> bodies = file == null
                ? List.of(DocumentWriter.JSON.createObjectNode())
                : SubmissionFile.read(file, environment().input());
        for (ObjectNode body : bodies) {
            complete(body);
        }
        return bodies;
    }

    /** Puts the options in place of the fields of the file, and adds what may be left out. */
    private void complete(ObjectNode body) {
        work().writeTo(body);
        job().writeTo(body, environment().variables());
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
        if (!body.hasNonNull("name")) {
            body.put("name", nameOf(body.path("command")));
        }
        if (!body.hasNonNull("type")) {
            body.put("type", "training");
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
