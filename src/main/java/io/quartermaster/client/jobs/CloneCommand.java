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
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code qm clone}: submits a workload again. */
@Command(
        name = "clone",
        description = {
            "Submits a job again, whether or not it has ended, and prints the id of the new one.",
            "Options replace what they name; variables and labels are added to those of the job."
        },
        footer = {
            "%nExamples:%n",
            "  qm clone train-42",
            "  qm clone train-42 --name train-43 -e SEED=8 --follow",
            "  qm clone train-42 -- python train.py --epochs 9"
        })
final class CloneCommand extends SubmittingCommand {

    @Parameters(index = "0", paramLabel = "JOB", description = "Id, beginning of the id, or name")
    private String source = "";

    @Parameters(
            index = "1..*",
            paramLabel = "COMMAND",
            arity = "0..*",
            description = "Another program and its arguments, after --")
    private List<String> command = new ArrayList<>();

    @Option(names = "--no-env", description = "Without the variables of the job; those of -e are set")
    private boolean withoutVariables;

    CloneCommand(ClientEnvironment environment) {
        super(environment);
    }

    @Override
    protected ExitStatus run() {
        if (watches() && isDryRun()) {
            throw CommandFailure.usage("--wait and --follow are for a job that is submitted");
        }
        if (work().workers() != null) {
            throw CommandFailure.usage("--workers is not for a clone: its queue decides the number");
        }
        requireSeparator();
        ObjectNode changes = DocumentWriter.JSON.createObjectNode();
        if (withoutVariables) {
            changes.putObject("environment");
        }
        work().writeTo(changes);
        job().writeTo(changes, environment().variables());
        if (!command.isEmpty()) {
            ArrayNode words = changes.putArray("command");
            command.forEach(words::add);
        }
        ServiceConnection service = service();
        String id = new WorkloadFinder(service).findToChange(source);
        JsonNode answer = send(service, service.path("workloads", id, "clone"), changes, " for the id " + id);
        if (isDryRun()) {
            printDryRun(answer, 1);
            return ExitStatus.OK;
        }
        return finish(service, answer, List.of(answer));
    }

    /** A second job by mistake must not become the command of the first. */
    private void requireSeparator() {
        List<String> words = spec().root().commandLine().getParseResult().originalArgs();
        int separator = words.indexOf("--");
        int after = separator < 0 ? 0 : words.size() - separator - 1;
        if (command.size() > after) {
            throw CommandFailure.usage("qm clone takes one job; the words of another command follow --, and "
                    + command.getFirst() + " does not");
        }
    }
}
