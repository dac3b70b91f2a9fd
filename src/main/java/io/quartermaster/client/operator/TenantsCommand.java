package io.quartermaster.client.operator;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.connection.ServiceConnection;
import io.quartermaster.client.documents.ApplyingCommand;
import io.quartermaster.client.documents.FieldTypes;
import io.quartermaster.client.documents.ObjectKind;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.DocumentWriter;
import io.quartermaster.client.output.ExitStatus;
import io.quartermaster.client.output.TextStyle;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code qm tenants}: the tenants of the deployment. */
@Command(
        name = "tenants",
        description = "Lists tenants, makes them what documents state, suspends, resumes and offboards them.",
        footer = {"%nExamples:%n", "  qm tenants", "  qm tenants apply -f tenants/ --dry-run"})
final class TenantsCommand extends TenantListing {

    TenantsCommand(ClientEnvironment environment) {
        super(environment);
    }

    /** {@code qm tenants list} */
    @Command(name = "list", description = "Lists tenants.", footer = "%nExample:%n  qm tenants list --state suspended")
    static final class ListTenants extends TenantListing {
        ListTenants(ClientEnvironment environment) {
            super(environment);
        }
    }

    /** {@code qm tenants apply} */
    @Command(
            name = "apply",
            description = {
                "Makes tenants and their allotments what documents state, and waits until new tenants are usable.",
                "The plan of a tenant and its first groups count when the tenant is made. A second run changes nothing; "
                        + "objects without a document stay as they are."
            },
            footer = {
                "%nExample:%n",
                "  qm tenants apply -f tenants/ --dry-run",
                "%nDocuments:%n",
                "  {kind: tenant, name: acme, spec: {plan: standard, displayName: Acme}}",
                "  ---",
                "  {kind: allotment, name: acme/h100, spec: {reserved: 8, limit: 16}}"
            })
    static final class ApplyTenants extends ApplyingCommand {
        ApplyTenants(ClientEnvironment environment) {
            super(environment);
        }

        @Override
        protected List<ObjectKind> kinds() {
            return TenantKinds.all(id -> new OperationWatch(service(), err(), this::remark).untilEnd(id));
        }

        @Override
        protected FieldTypes types() {
            return TenantKinds.TYPES;
        }

        @Override
        protected ExitStatus run() {
            return apply();
        }
    }

    /** A command that changes the state of tenants. */
    abstract static class StateChange extends OperatorCall {
        @Parameters(paramLabel = "TENANT", arity = "1..*", description = "Ids of tenants")
        private List<String> tenants = new ArrayList<>();

        @Option(names = "--dry-run", description = "Check everything and change nothing")
        private boolean dryRun;

        StateChange(ClientEnvironment environment) {
            super(environment);
        }

        final ExitStatus setState(String state, String report) {
            ObjectNode patch = DocumentWriter.JSON.createObjectNode().put("state", state);
            return changeEach(
                    tenants,
                    tenant -> patch(ServiceConnection.operatorPath("tenants", tenant), patch, dryRun),
                    tenant -> out().println(
                                    dryRun
                                            ? "The service would do this. Nothing was changed."
                                            : TextStyle.printable(tenant) + report));
        }
    }

    /** {@code qm tenants suspend} */
    @Command(
            name = "suspend",
            description = {
                "Suspends tenants: their people read and change nothing, and none of their waiting work starts.",
                "Running work continues."
            },
            footer = "%nExample:%n  qm tenants suspend acme")
    static final class SuspendTenants extends StateChange {
        SuspendTenants(ClientEnvironment environment) {
            super(environment);
        }

        @Override
        protected ExitStatus run() {
            return setState("suspended", " is suspended.");
        }
    }

    /** {@code qm tenants resume} */
    @Command(
            name = "resume",
            description = "Ends the suspension of tenants.",
            footer = "%nExample:%n  qm tenants resume acme")
    static final class ResumeTenants extends StateChange {
        ResumeTenants(ClientEnvironment environment) {
            super(environment);
        }

        @Override
        protected ExitStatus run() {
            return setState("active", " is active.");
        }
    }

    /** {@code qm tenants offboard} */
    @Command(
            name = "offboard",
            description = {
                "Offboards a suspended tenant for good: its rules, its allotments, and its realm with all users go.",
                "Its usage and audit entries stay. The id is never used again. The command waits for the operation."
            },
            footer = {
                "%nExamples:%n",
                "  qm tenants offboard acme --dry-run",
                "  qm tenants offboard acme --confirm acme"
            })
    static final class OffboardTenant extends OperatorCall {
        @Parameters(paramLabel = "TENANT", description = "Id of the tenant")
        private String tenant = "";

        @Option(names = "--confirm", paramLabel = "TENANT", defaultValue = "", description = "The id again; needed")
        private String confirmed = "";

        @Option(names = "--no-wait", description = "Begin the operation, and do not wait for its end")
        private boolean withoutWait;

        @Option(names = "--dry-run", description = "Check everything and change nothing")
        private boolean dryRun;

        OffboardTenant(ClientEnvironment environment) {
            super(environment);
        }

        @Override
        protected ExitStatus run() {
            if (!dryRun && !confirmed.equals(tenant)) {
                throw CommandFailure.usage("this cannot be undone. Repeat the id to confirm it: --confirm " + tenant);
            }
            JsonNode operation = send("DELETE", ServiceConnection.operatorPath("tenants", tenant), dryRun);
            String id = text(operation, "id");
            JsonNode last =
                    dryRun || withoutWait ? operation : new OperationWatch(service(), err(), this::remark).untilEnd(id);
            print(last, List.of(id), () -> {
                if (dryRun) {
                    out().println("The service would do this. Nothing was changed.");
                } else if (withoutWait) {
                    out().println("Operation " + id + " offboards " + TextStyle.printable(tenant)
                            + ". Follow it with: qm operations " + id + " --wait");
                } else {
                    out().println(TextStyle.printable(tenant) + " is offboarded.");
                }
            });
            return ExitStatus.OK;
        }
    }
}
