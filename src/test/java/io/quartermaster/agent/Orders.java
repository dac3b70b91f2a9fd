package io.quartermaster.agent;

import io.quartermaster.agent.protocol.AttemptOrder;
import io.quartermaster.agent.protocol.AttemptOrder.Desired;
import io.quartermaster.agent.protocol.AttemptOrder.DeviceShare;
import io.quartermaster.agent.protocol.StopReason;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Orders for tests: one that runs a shell script, and variations of it. */
final class Orders {
    UUID attemptId = UUID.randomUUID();
    UUID workloadId = UUID.randomUUID();
    String tenant = "acme";
    int attemptNumber = 1;
    List<String> command = List.of();
    Map<String, String> environment = Map.of();
    List<DeviceShare> devices = List.of(new DeviceShare(1, 1_000), new DeviceShare(0, 1_000));

    @Nullable
    String runUser;

    List<String> abortCallback = List.of();

    @Nullable
    Long maxRuntimeMillis;

    @Nullable
    UUID resumes;

    Desired desired = new Desired.Run();

    private Orders() {}

    static List<String> script(String text) {
        return List.of("/bin/sh", "-c", text);
    }

    static AttemptOrder shell(String script) {
        return shell(script, order -> {});
    }

    static AttemptOrder shell(String script, Consumer<Orders> change) {
        Orders order = new Orders();
        order.command = script(script);
        change.accept(order);
        return order.build();
    }

    /** The workload's next attempt, with another script. */
    static AttemptOrder next(AttemptOrder before, String script) {
        return shell(script, order -> {
            order.workloadId = before.workloadId();
            order.attemptNumber = before.attemptNumber() + 1;
        });
    }

    /** The workload's next attempt, which takes over the processes of a paused one. */
    static AttemptOrder resuming(AttemptOrder paused, Consumer<Orders> change) {
        return shell("echo started anew", order -> {
            order.workloadId = paused.workloadId();
            order.attemptNumber = paused.attemptNumber() + 1;
            order.devices = paused.devices();
            order.resumes = paused.attemptId();
            change.accept(order);
        });
    }

    static AttemptOrder paused(AttemptOrder running, long graceMillis) {
        return desired(running, new Desired.Pause(graceMillis));
    }

    static AttemptOrder stopped(AttemptOrder running, StopReason reason, long graceMillis) {
        return desired(running, new Desired.Stop(reason, graceMillis));
    }

    private static AttemptOrder desired(AttemptOrder running, Desired desired) {
        return shell("", order -> {
            order.attemptId = running.attemptId();
            order.workloadId = running.workloadId();
            order.attemptNumber = running.attemptNumber();
            order.command = running.command();
            order.environment = running.environment();
            order.devices = running.devices();
            order.runUser = running.runUser();
            order.abortCallback = running.abortCallback();
            order.maxRuntimeMillis = running.maxRuntimeMillis();
            order.resumes = running.resumes();
            order.desired = desired;
        });
    }

    private AttemptOrder build() {
        return new AttemptOrder(
                attemptId,
                workloadId,
                tenant,
                attemptNumber,
                command,
                environment,
                devices,
                runUser,
                "model-a",
                abortCallback,
                maxRuntimeMillis,
                5_000,
                resumes,
                desired);
    }
}
