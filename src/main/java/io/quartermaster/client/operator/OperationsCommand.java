package io.quartermaster.client.operator;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.connection.ServiceConnection;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.ExitStatus;
import io.quartermaster.client.output.TextTable;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code qm operations}: the long-running work of the service. */
@Command(
        name = "operations",
        description = {
            "Lists the operations of all tenants and of the operator, the newest first, or shows the steps of one.",
            "With --wait it waits until the operation has ended."
        },
        footer = {
            "%nExamples:%n",
            "  qm operations --state failed",
            "  qm operations 019ab1c2-d3e4-7000-8000-000000000001"
        },
        exitCodeList = {
            "0:done; with --wait: the operation succeeded",
            "1:with --wait: the operation failed, or has not ended in time; the command failed",
            "2:an option is wrong, or no server is chosen",
            "3:you are not signed in",
            "4:there is no such operation, or you may not see it",
            "5:the service refused the request",
            "6:the service or Keycloak does not answer, or failed"
        })
final class OperationsCommand extends OperatorCall {

    @Parameters(arity = "0..1", paramLabel = "OPERATION", description = "Id of an operation")
    private @Nullable String id;

    @Option(
            names = "--of",
            paramLabel = "TENANT",
            description = "Only operations of a tenant; operator: only those of no tenant")
    private @Nullable String owner;

    @Option(names = "--kind", paramLabel = "KIND", description = "provision-tenant, offboard-tenant or audit-books")
    private @Nullable String kind;

    @Option(names = "--state", paramLabel = "STATE", description = "pending, running, succeeded or failed")
    private @Nullable String state;

    @Option(names = "--wait", description = "Wait until the operation has ended")
    private boolean wait;

    OperationsCommand(ClientEnvironment environment) {
        super(environment);
    }

    @Override
    protected ExitStatus run() {
        String chosen = id;
        if (chosen == null) {
            if (wait) {
                throw CommandFailure.usage("--wait needs the id of an operation");
            }
            listOperations();
            return ExitStatus.OK;
        }
        ServiceConnection service = service();
        JsonNode operation = wait
                ? new OperationWatch(service, err(), this::remark).untilEnd(chosen)
                : service.get(ServiceConnection.operatorPath("operations", chosen));
        print(operation, List.of(chosen), () -> printSteps(operation));
        return ExitStatus.OK;
    }

    private void listOperations() {
        Map<String, @Nullable String> given = new LinkedHashMap<>();
        given.put("tenant", owner);
        given.put("kind", kind);
        given.put("state", state);
        printList(
                list(filters(given), "operations"),
                "id",
                List.of("OPERATION", "KIND", "TENANT", "STATE", "UPDATED", "ERROR"),
                operation -> List.of(
                        text(operation, "id"),
                        text(operation, "kind"),
                        text(operation, "tenant"),
                        text(operation, "state"),
                        moment(operation, "updatedAt"),
                        OperationWatch.error(operation)));
    }

    private void printSteps(JsonNode operation) {
        TextTable head = new TextTable(style(), "KIND", "TENANT", "STATE", "TRIES", "BEGUN", "ERROR");
        head.add(
                text(operation, "kind"),
                text(operation, "tenant"),
                text(operation, "state"),
                text(operation, "attempts"),
                moment(operation, "createdAt"),
                OperationWatch.error(operation));
        printTable(head);
        out().println();
        TextTable steps = new TextTable(style(), "STEP", "STATE", "BEGUN", "ENDED", "ERROR");
        operation
                .path("steps")
                .forEach(step -> steps.add(
                        text(step, "name"),
                        text(step, "state"),
                        moment(step, "startedAt"),
                        moment(step, "endedAt"),
                        text(step, "error")));
        printTable(steps);
    }
}
