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

/** {@code qm nodes}: the nodes of the deployment. */
@Command(
        name = "nodes",
        description = {"Lists nodes, closes them to new work, opens them, and issues credentials of their agents."},
        footer = {"%nExamples:%n", "  qm nodes --pool h100", "  qm nodes drain node-7 --timeout 2h"})
final class NodesCommand extends NodeListing {

    NodesCommand(ClientEnvironment environment) {
        super(environment);
    }

    /** {@code qm nodes list} */
    @Command(name = "list", description = "Lists nodes.", footer = "%nExample:%n  qm nodes list --closed")
    static final class ListNodes extends NodeListing {
        ListNodes(ClientEnvironment environment) {
            super(environment);
        }
    }

    /** A command that opens or closes nodes. */
    abstract static class NodeChange extends OperatorCall {
        @Parameters(paramLabel = "NODE", arity = "1..*", description = "Names of nodes")
        private List<String> nodes = new ArrayList<>();

        @Option(names = "--dry-run", description = "Check everything and change nothing")
        private boolean dryRun;

        NodeChange(ClientEnvironment environment) {
            super(environment);
        }

        final ExitStatus setSchedulable(boolean schedulable, String report) {
            ObjectNode patch = DocumentWriter.JSON.createObjectNode().put("schedulable", schedulable);
            return changeEach(
                    nodes,
                    node -> patch(ServiceConnection.operatorPath("nodes", node), patch, dryRun),
                    node -> out().println(
                                    dryRun
                                            ? "The service would do this. Nothing was changed."
                                            : TextStyle.printable(node) + report));
        }
    }

    /** {@code qm nodes cordon} */
    @Command(
            name = "cordon",
            description = "Closes nodes to new work. Running work continues.",
            footer = "%nExample:%n  qm nodes cordon node-7")
    static final class CordonNodes extends NodeChange {
        CordonNodes(ClientEnvironment environment) {
            super(environment);
        }

        @Override
        protected ExitStatus run() {
            return setSchedulable(false, " takes no new work.");
        }
    }

    /** {@code qm nodes uncordon} */
    @Command(
            name = "uncordon",
            description = "Opens nodes to new work.",
            footer = "%nExample:%n  qm nodes uncordon node-7")
    static final class UncordonNodes extends NodeChange {
        UncordonNodes(ClientEnvironment environment) {
            super(environment);
        }

        @Override
        protected ExitStatus run() {
            return setSchedulable(true, " takes new work.");
        }
    }

    /** {@code qm nodes credential} */
    @Command(
            name = "credential",
            description = {
                "Issues the credential of a node's agent. Its secret is shown once.",
                "The credential before it ends, and with it the sessions of the agent."
            },
            footer = "%nExample:%n  qm nodes credential node-7 -o json > credential.json")
    static final class IssueCredential extends OperatorCall {
        @Parameters(paramLabel = "NODE", description = "Name of the node")
        private String node = "";

        IssueCredential(ClientEnvironment environment) {
            super(environment);
        }

        @Override
        protected ExitStatus run() {
            JsonNode issued = send("POST", ServiceConnection.operatorPath("nodes", node, "credential"), false);
            print(issued, List.of(text(issued, "clientId")), () -> {
                out().println("Client    " + TextStyle.printable(text(issued, "clientId")));
                out().println("Secret    " + TextStyle.printable(text(issued, "clientSecret")));
                out().println("Token URL " + TextStyle.printable(text(issued, "tokenUrl")));
                remark("Keep the secret: the service does not show it again.");
            });
            return ExitStatus.OK;
        }
    }
}
