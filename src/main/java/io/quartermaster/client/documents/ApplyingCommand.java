package io.quartermaster.client.documents;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.commands.PersonCommand;
import io.quartermaster.client.connection.ServiceConnection;
import io.quartermaster.client.connection.WaitIndicator;
import io.quartermaster.client.documents.PlannedChange.Action;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.DocumentWriter;
import io.quartermaster.client.output.ExitStatus;
import io.quartermaster.client.output.TextStyle;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** A command that makes objects what documents state. */
@Command(
        exitCodeList = {
            "0:the objects are as stated; with --dry-run: nothing prevents the plan",
            "1:the command failed",
            "2:an option or a document is wrong, or no server is chosen",
            "3:you are not signed in",
            "4:there is no such tenant, or you may not see it",
            "5:the plan, or one of its changes, is refused; the changes that were made are named",
            "6:the service or Keycloak does not answer, or failed"
        })
public abstract class ApplyingCommand extends PersonCommand {

    @Option(
            names = {"-f", "--file"},
            paramLabel = "FILE",
            description = "File of YAML or JSON, a folder of such files, or - for standard input; may be repeated")
    private List<String> files = new ArrayList<>();

    @Option(names = "--dry-run", description = "Print the plan and its effects, and change nothing")
    private boolean dryRun;

    @Option(
            names = "--stop-work",
            description = "Also make changes by which running jobs become over-quota or stop, and waiting jobs are "
                    + "cancelled")
    private boolean stopWork;

    @Option(
            names = "--schema",
            description = "Print the JSON Schema of documents, with which editors check them, and apply nothing")
    private boolean schema;

    protected ApplyingCommand(ClientEnvironment environment) {
        super(environment);
    }

    /** The kinds of the command's documents, in the order in which their objects are made. */
    protected abstract List<ObjectKind> kinds();

    protected abstract FieldTypes types();

    /** Applies the documents of the given files. */
    protected final ExitStatus apply() {
        if (schema) {
            printSchema();
            return ExitStatus.OK;
        }
        if (files.isEmpty()) {
            throw CommandFailure.usage("no file is given; see " + spec().qualifiedName() + " --help");
        }
        List<StatedObject> objects =
                new DocumentFolder(types()).read(files, environment().input());
        ServiceConnection service = service();
        ChangePlanner planner = new ChangePlanner(service, kinds());
        List<PlannedChange> plan = plan(planner, objects);
        if (isTable()) {
            new PlanText(style()).lines(plan).forEach(out()::println);
            out().flush();
        }
        List<String> refusals = refusals(plan);
        if (!refusals.isEmpty()) {
            printOutcome(plan, List.of(), null);
            throw new CommandFailure(ExitStatus.REFUSED, "the plan is refused; nothing was changed", refusals, null);
        }
        if (dryRun) {
            printOutcome(plan, List.of(), null);
            return ExitStatus.OK;
        }
        PlanExecution execution = new PlanExecution(service, planner, stopWork);
        execution.run(plan, this::reportMade);
        printOutcome(plan, execution.made(), execution.failure());
        PlanExecution.Failure failure = execution.failure();
        if (failure != null) {
            throw incomplete(failure, execution);
        }
        return ExitStatus.OK;
    }

    private List<PlannedChange> plan(ChangePlanner planner, List<StatedObject> objects) {
        WaitIndicator indicator = new WaitIndicator(err(), environment().terminal());
        try (WaitIndicator.Step step = indicator.begin("Comparing " + objects.size() + " documents")) {
            return planner.plan(objects);
        }
    }

    private void printSchema() {
        try (InputStream in = ApplyingCommand.class.getResourceAsStream("documents.schema.json")) {
            if (in == null) {
                throw new IllegalStateException("the program has no schema of documents");
            }
            JsonNode document = DocumentWriter.JSON.readTree(in);
            print(document, List.of(), () -> out().println(DocumentWriter.json(document)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private List<String> refusals(List<PlannedChange> plan) {
        List<String> refusals = new ArrayList<>();
        for (PlannedChange change : plan) {
            switch (change.check()) {
                case ServiceCheck.Refused refused -> {
                    refusals.add(change.title() + ": " + refused.failure().text());
                    refused.failure().details().forEach(detail -> refusals.add("  " + detail));
                }
                case ServiceCheck.Accepted accepted -> {
                    if (!stopWork && !accepted.stops().isEmpty()) {
                        refusals.add(change.title() + ": " + String.join("; ", accepted.stops())
                                + ". Give --stop-work if you mean it");
                    }
                }
                case ServiceCheck.Deferred deferred -> {}
                case ServiceCheck.Unneeded unneeded -> {}
            }
        }
        return refusals;
    }

    private void reportMade(PlannedChange change) {
        if (isTable()) {
            out().println(TextStyle.printable(change.title())
                    + (change.action() == Action.CREATE ? " is created." : " is changed."));
            out().flush();
        }
    }

    private static CommandFailure incomplete(PlanExecution.Failure failure, PlanExecution execution) {
        List<String> details = new ArrayList<>(failure.cause().details());
        details.add(execution.made().size() + " of the plan's changes "
                + (execution.made().size() == 1 ? "is made" : "are made") + ". Not made: "
                + String.join(
                        ", ",
                        execution.open().stream().map(PlannedChange::title).toList()));
        return new CommandFailure(
                failure.cause().status(),
                failure.change().title() + ": " + failure.cause().text(),
                details,
                failure.cause().requestId());
    }

    /** The document of the plan, or the names of the objects that the plan changes. */
    private void printOutcome(
            List<PlannedChange> plan, List<PlannedChange> made, PlanExecution.@Nullable Failure failure) {
        if (isTable()) {
            return;
        }
        ObjectNode document = DocumentWriter.JSON.createObjectNode().put("dryRun", dryRun);
        ArrayNode items = document.putArray("items");
        for (PlannedChange change : plan) {
            boolean failed = failure != null && failure.change().title().equals(change.title());
            ObjectNode entry = PlanText.document(
                    change,
                    change.action() == Action.NONE
                            ? "unchanged"
                            : made.contains(change) ? "made" : failed ? "failed" : "not-made");
            if (failure != null && failed) {
                entry.put("problem", failure.code())
                        .put("detail", failure.cause().text());
            }
            items.add(entry);
        }
        List<String> names = plan.stream()
                .filter(change -> dryRun ? change.action() != Action.NONE : made.contains(change))
                .map(change -> change.kind().word() + "/" + change.object().name())
                .toList();
        print(document, names, () -> {});
    }
}
