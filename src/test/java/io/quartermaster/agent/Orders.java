package io.quartermaster.agent;

import io.quartermaster.agent.protocol.AttemptOrder;
import io.quartermaster.agent.protocol.AttemptOrder.Desired;
import io.quartermaster.agent.protocol.AttemptOrder.DeviceShare;
import io.quartermaster.agent.protocol.StopReason;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Orders for tests: one that runs a shell script, and its variations. */
final class Orders {
    private Orders() {}

    static AttemptOrder shell(String script) {
        return new AttemptOrder(
                UUID.randomUUID(),
                UUID.randomUUID(),
                "acme",
                1,
                List.of("/bin/sh", "-c", script),
                Map.of(),
                List.of(new DeviceShare(1, 1_000), new DeviceShare(0, 1_000)),
                null,
                "model-a",
                List.of(),
                null,
                5_000,
                new Desired.Run());
    }

    static AttemptOrder withCallback(AttemptOrder order, String script) {
        return new AttemptOrder(
                order.attemptId(),
                order.workloadId(),
                order.tenant(),
                order.attemptNumber(),
                order.command(),
                order.environment(),
                order.devices(),
                order.runUser(),
                order.checkpointFolder(),
                List.of("/bin/sh", "-c", script),
                order.maxRuntimeMillis(),
                order.graceMillis(),
                order.desired());
    }

    static AttemptOrder withMaxRuntime(AttemptOrder order, long maxRuntimeMillis) {
        return new AttemptOrder(
                order.attemptId(),
                order.workloadId(),
                order.tenant(),
                order.attemptNumber(),
                order.command(),
                order.environment(),
                order.devices(),
                order.runUser(),
                order.checkpointFolder(),
                order.abortCallback(),
                maxRuntimeMillis,
                order.graceMillis(),
                order.desired());
    }

    static AttemptOrder withEnvironment(AttemptOrder order, Map<String, String> environment) {
        return new AttemptOrder(
                order.attemptId(),
                order.workloadId(),
                order.tenant(),
                order.attemptNumber(),
                order.command(),
                environment,
                order.devices(),
                order.runUser(),
                order.checkpointFolder(),
                order.abortCallback(),
                order.maxRuntimeMillis(),
                order.graceMillis(),
                order.desired());
    }

    static AttemptOrder asUser(AttemptOrder order, String user) {
        return new AttemptOrder(
                order.attemptId(),
                order.workloadId(),
                order.tenant(),
                order.attemptNumber(),
                order.command(),
                order.environment(),
                order.devices(),
                user,
                order.checkpointFolder(),
                order.abortCallback(),
                order.maxRuntimeMillis(),
                order.graceMillis(),
                order.desired());
    }

    /** The workload's next attempt, with another script. */
    static AttemptOrder next(AttemptOrder order, String script) {
        return new AttemptOrder(
                UUID.randomUUID(),
                order.workloadId(),
                order.tenant(),
                order.attemptNumber() + 1,
                List.of("/bin/sh", "-c", script),
                order.environment(),
                order.devices(),
                order.runUser(),
                order.checkpointFolder(),
                order.abortCallback(),
                order.maxRuntimeMillis(),
                order.graceMillis(),
                new Desired.Run());
    }

    static AttemptOrder stopped(AttemptOrder order, StopReason reason, long graceMillis) {
        return new AttemptOrder(
                order.attemptId(),
                order.workloadId(),
                order.tenant(),
                order.attemptNumber(),
                order.command(),
                order.environment(),
                order.devices(),
                order.runUser(),
                order.checkpointFolder(),
                order.abortCallback(),
                order.maxRuntimeMillis(),
                order.graceMillis(),
                new Desired.Stop(reason, graceMillis));
    }
}
