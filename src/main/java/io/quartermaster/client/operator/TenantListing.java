package io.quartermaster.client.operator;

import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.output.ExitStatus;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** A command that lists tenants. */
abstract class TenantListing extends OperatorCall {

    @Option(
            names = "--state",
            paramLabel = "STATE",
            description = "Only tenants in this state: provisioning, active, suspended, failed, offboarding or deleted")
    private @Nullable String state;

    TenantListing(ClientEnvironment environment) {
        super(environment);
    }

    @Override
    protected final ExitStatus run() {
        Map<String, @Nullable String> given = new LinkedHashMap<>();
        given.put("state", state);
        printList(
                list(filters(given), "tenants"),
                "id",
                List.of("TENANT", "NAME", "STATE", "PLAN", "CREATED"),
                tenant -> List.of(
                        text(tenant, "id"),
                        text(tenant, "displayName"),
                        text(tenant, "state"),
                        text(tenant, "plan"),
                        moment(tenant, "createdAt")));
        return ExitStatus.OK;
    }
}
