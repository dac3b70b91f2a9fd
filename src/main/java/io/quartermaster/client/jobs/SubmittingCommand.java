package io.quartermaster.client.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.commands.PersonCommand;
import io.quartermaster.client.connection.ServiceConnection;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.ExitStatus;
import io.quartermaster.client.output.TextStyle;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Pattern;
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
            "6:the service or Keycloak does not answer, or failed"
        })
abstract class SubmittingCommand extends PersonCommand {

    private static final Pattern KEY_FORM = Pattern.compile("[!-~]{1,255}");

    @Mixin
    private WorkOptions work = new WorkOptions();

    @Mixin
    private JobOptions job = new JobOptions();

    @Option(names = "--dry-run", description = "Check everything and submit nothing")
    private boolean dryRun;

    @Option(
            names = "--idempotency-key",
            paramLabel = "KEY",
            description =
                    "Name of this submission; a repetition with the same KEY submits nothing twice. Default: a new "
                            + "one")
    private @Nullable String key;

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

    /**
     * Sends a submission. If it is unknown whether the service took it, the failure states the key with which the
     * command can be repeated.
     *
     * @param again what else a repetition has to name, in a message
     */
    final JsonNode send(ServiceConnection service, String path, JsonNode body, String again) {
        if (key != null && !KEY_FORM.matcher(key).matches()) {
            throw CommandFailure.usage("--idempotency-key is 1 to 255 characters of ASCII without a space");
        }
        String sent = key == null ? UUID.randomUUID().toString() : key;
        try {
            return service.post(path, dryRun ? Map.of("dryRun", "true") : Map.of(), body, sent);
        } catch (CommandFailure e) {
            if (dryRun || e.status() != ExitStatus.UNAVAILABLE) {
                throw e;
            }
            List<String> details = new ArrayList<>(e.details());
            details.add("it may have been submitted; repeat the command" + again + " with --idempotency-key " + sent);
            throw new CommandFailure(e.status(), e.text(), details, e.requestId());
        }
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
                                ? "Follow it with: " + called() + " logs -f " + ids.getFirst()
                                        + "; see why it waits with: " + called() + " why " + ids.getFirst()
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
        // In a format for programs, standard output is the document alone.
        PrintWriter output = isTable() ? out() : err();
        return new JobWatch(
                        service, output, err(), style(), times(), environment().terminal())
                .untilEnd(ids.getFirst(), chosen.follows());
    }

    final void printDryRun(JsonNode answer, int count) {
        print(answer, List.of(), () -> {
            out().println((count == 1
                            ? "The service would take this job."
                            : "The service would take these " + count + " jobs.")
                    + " Nothing was submitted.");
            answer.path("warnings")
                    .forEach(warning -> out().println("Warning: " + TextStyle.printable(warning.asText())));
        });
    }
}
