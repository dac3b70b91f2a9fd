package io.quartermaster.client.operator;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.connection.ServiceConnection;
import io.quartermaster.client.output.DocumentWriter;
import io.quartermaster.client.output.ExitStatus;
import io.quartermaster.client.output.TextStyle;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code qm quarantine}: what plans exclude. */
@Command(
        name = "quarantine",
        description = "Lists the workloads, tenants and inbox rows that plans exclude because plans with them failed.",
        footer = {
            "%nExamples:%n",
            "  qm quarantine",
            "  qm quarantine retry workload-019ab1c2-d3e4-7000-8000-000000000001"
        })
final class QuarantineCommand extends QuarantineListing {

    QuarantineCommand(ClientEnvironment environment) {
        super(environment);
    }

    /** {@code qm quarantine list} */
    @Command(
            name = "list",
            description = "Lists the entries of the quarantine.",
            footer = "%nExample:%n  qm quarantine list -o json")
    static final class ListEntries extends QuarantineListing {
        ListEntries(ClientEnvironment environment) {
            super(environment);
        }
    }

    /** A command that changes entries. */
    abstract static class EntryChange extends OperatorCall {
        @Parameters(paramLabel = "ENTRY", arity = "1..*", description = "Ids of entries; qm quarantine lists them")
        private List<String> entries = new ArrayList<>();

        @Option(names = "--dry-run", description = "Check everything and change nothing")
        private boolean dryRun;

        EntryChange(ClientEnvironment environment) {
            super(environment);
        }

        final ExitStatus sendEach(String method, List<String> steps, String report) {
            return changeEach(
                    entries,
                    entry -> {
                        List<String> path = new ArrayList<>(List.of("quarantine-entries", entry));
                        path.addAll(steps);
                        JsonNode answer =
                                send(method, ServiceConnection.operatorPath(path.toArray(String[]::new)), dryRun);
                        ObjectNode id = DocumentWriter.JSON.createObjectNode().put("id", entry);
                        return answer.isObject() ? answer : id;
                    },
                    entry -> out().println(
                                    dryRun
                                            ? "The service would do this. Nothing was changed."
                                            : TextStyle.printable(entry) + report));
        }
    }

    /** {@code qm quarantine retry} */
    @Command(
            name = "retry",
            description = "Retries entries in the next scheduling cycle.",
            footer = "%nExample:%n  qm quarantine retry tenant-acme")
    static final class RetryEntries extends EntryChange {
        RetryEntries(ClientEnvironment environment) {
            super(environment);
        }

        @Override
        protected ExitStatus run() {
            return sendEach("POST", List.of("retries"), " is retried in the next scheduling cycle.");
        }
    }

    /** {@code qm quarantine drop} */
    @Command(
            name = "drop",
            description = {
                "Removes entries: deletes an inbox row, or cancels a workload.",
                "A tenant cannot be removed; suspend or offboard it."
            },
            footer = "%nExample:%n  qm quarantine drop workload-019ab1c2-d3e4-7000-8000-000000000001")
    static final class DropEntries extends EntryChange {
        DropEntries(ClientEnvironment environment) {
            super(environment);
        }

        @Override
        protected ExitStatus run() {
            return sendEach("DELETE", List.of(), " is removed, or leaves when its work has stopped.");
        }
    }
}
