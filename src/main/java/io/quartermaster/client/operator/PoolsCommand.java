package io.quartermaster.client.operator;

import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.output.ExitStatus;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;

/** {@code qm pools}: the pools of the deployment. */
@Command(
        name = "pools",
        description = "Lists pools with the GPUs that are up, those that tenants have reserved, and their nodes.",
        footer = "%nExample:%n  qm pools")
final class PoolsCommand extends OperatorCall {

    PoolsCommand(ClientEnvironment environment) {
        super(environment);
    }

    @Override
    protected ExitStatus run() {
        printList(
                list(Map.of(), "pools"),
                "name",
                List.of("POOL", "GPUS UP", "RESERVED", "NODES", "NODES UP", "PLACEMENT", "SHARED BY"),
                pool -> List.of(
                        text(pool, "name"),
                        text(pool, "up"),
                        text(pool, "reserved"),
                        text(pool, "nodes"),
                        text(pool, "nodesUp"),
                        text(pool, "placement"),
                        text(pool, "shareGpus")));
        return ExitStatus.OK;
    }
}
