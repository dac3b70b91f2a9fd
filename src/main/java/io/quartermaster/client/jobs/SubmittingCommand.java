package io.quartermaster.client.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.commands.PersonCommand;
import io.quartermaster.client.connection.ServiceConnection;
import io.quartermaster.client.output.ExitStatus;
import io.quartermaster.client.output.TextStyle;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A command that submits jobs, and may wait for the end of one. */
@Command(
        exitCodeList = {
            "0:submitted; with --wait or --follow: it succeeded",
            "1:with --wait or --follow: it failed or was cancelled",
            "2:an option or a file is wrong, or no server is chosen",
            "3:you are not signed in",
            "4:there is no such queue or job, or you may not see it",
            "5:the service refused the job",
            "6:the service does not answer"
        })
abstract class SubmittingCommand extends PersonCommand {

    @Mixin
    private WorkOptions work = new WorkOptions();

    @Mixin
    private JobOptions job = new JobOptions();

    @Option(names = "--dry-run", description = "Check everything and submit nothing")
    private boolean dryRun;

    @ArgGroup
    private @Nullable AfterSubmission after;

    SubmittingCommand(ClientEnvironment environment) {
        super(environment);
    }

    final WorkOptions work() {
        return work;
    }

    final JobOptions job() {
        return job;
    }

    final boolean isDryRun() {
        return dryRun;
    }

    final boolean watches() {
        return after != null;
    }

    /** Prints the answer to a submission, and waits for the end of the job if asked to. */
    final ExitStatus finish(ServiceConnection service, JsonNode answer, List<JsonNode> submitted) {
        List<String> ids =
                submitted.stream().map(item -> item.path("id").asText()).toList();
        AfterSubmission chosen = after;
        if (chosen == null) {
            print(answer, ids, () -> {
                ids.forEach(out()::println);
                remark(
                        ids.size() == 1
                                ? "Follow it with: qm logs -f " + ids.getFirst() + "; see why it waits with: qm why "
                                        + ids.getFirst()
                                : ids.size() + " jobs are submitted.");
            });
            return ExitStatus.OK;
        }
        String name = submitted.getFirst().path("name").asText();
        if (isTable()) {
            remark("Submitted " + ids.getFirst() + " (" + name + ").");
        } else {
            print(answer, ids, () -> {});
        }
        return new JobWatch(service, out(), err(), style(), times()).untilEnd(ids.getFirst(), chosen.follows());
    }

    final void printDryRun(JsonNode answer, int count) {
        print(answer, List.of(), () -> {
            out().println((count == 1
                            ? "The service would take this job."
                            : "The service would take these " + count + " jobs.")
                    + " Nothing was submitted.");
            answer.path("warnings").forEach(warning -> out().println("Warning: " + TextStyle.printable(warning.asText())));
        });
    }
}
