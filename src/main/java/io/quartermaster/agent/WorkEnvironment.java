package io.quartermaster.agent;

import io.quartermaster.agent.protocol.AttemptOrder;
import io.quartermaster.agent.protocol.AttemptOrder.DeviceShare;
import io.quartermaster.agent.supervisor.Commands;
import io.quartermaster.agent.supervisor.GpuSuspender;
import io.quartermaster.agent.supervisor.ProcessGroup;
import io.quartermaster.agent.supervisor.WorkRecord;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Prepares the environment of an order's processes: folders, user and variables.
 *
 * <p>The work sees the variables of its order; PATH, HOME, TMPDIR and LANG, unless the order sets them; and the
 * following, which override all others: {@code QM_ATTEMPT_ID}, {@code QM_ATTEMPT} (its number), {@code QM_WORKLOAD},
 * {@code QM_TENANT}, {@code QM_CHECKPOINT_DIR}, {@code QM_MIG} (its MIG instances, such as {@code 0:1g.10gb:4}: device,
 * profile, first memory slice; absent without), {@code CUDA_VISIBLE_DEVICES} (empty without devices, so that none are
 * seen) and {@code CUDA_DEVICE_ORDER=PCI_BUS_ID}, without which CUDA counts devices in another order than the driver.
 * It never sees the agent's own variables.
 */
final class WorkEnvironment {
    private final StateFolder state;
    private final Launcher launcher;
    private final boolean oneTenantOnly;
    private final boolean simulated;
    private final long outputLimitBytes;
    private final Optional<GpuSuspender> gpuSuspender;
    private final long tickMillis;

    WorkEnvironment(
            StateFolder state,
            Launcher launcher,
            boolean oneTenantOnly,
            boolean simulated,
            long outputLimitBytes,
            Optional<GpuSuspender> gpuSuspender,
            long tickMillis) {
        this.state = state;
        this.launcher = launcher;
        this.oneTenantOnly = oneTenantOnly;
        this.simulated = simulated;
        this.outputLimitBytes = outputLimitBytes;
        this.gpuSuspender = gpuSuspender;
        this.tickMillis = tickMillis;
    }

    /** The record for an order, without any effect on disk. The arguments are those of {@link Launcher#forWork}. */
    WorkRecord describe(AttemptOrder order, List<String> launcherArguments) {
        Path work = workFolder(order);
        Path checkpoints = checkpoints(order);
        return new WorkRecord(
                order.attemptId().toString(),
                launcherArguments,
                order.command(),
                order.abortCallback(),
                variables(order, work, checkpoints),
                work,
                checkpoints,
                Optional.ofNullable(order.maxRuntimeMillis()),
                order.graceMillis(),
                outputLimitBytes,
                devices(order),
                gpuSuspender,
                tickMillis);
    }

    Path workFolder(AttemptOrder order) {
        return state.work(order.tenant()).resolve(order.attemptId().toString());
    }

    Path checkpoints(AttemptOrder order) {
        return state.checkpoints(order.tenant()).resolve(order.checkpointFolder());
    }

    /** Creates the folders. Throws an IOException with the reason when this work cannot run here. */
    void prepare(AttemptOrder order, WorkRecord work) throws IOException {
        if (!simulated && !instances(order).isEmpty()) {
            // With the device's index, the work would see the first existing instance there, not its own.
            throw new IOException("it needs a MIG instance, and the agent creates none on real GPUs");
        }
        Optional<String> user = launcher.user(order);
        if (oneTenantOnly && state.holdsOtherThan(order.tenant())) {
            throw new IOException("this node does not isolate tenants, and holds files of another tenant");
        }
        state.makeTenant(order.tenant());
        Launcher.makeFolder(work.checkpointFolder(), user);
        Launcher.makeFolder(work.workFolder(), user);
    }

    /** The indices of the order's devices, in the order in which the work counts them. */
    static List<Integer> devices(AttemptOrder order) {
        return order.devices().stream()
                .map(DeviceShare::index)
                .distinct()
                .sorted()
                .toList();
    }

    private static String instances(AttemptOrder order) {
        List<String> instances = new ArrayList<>();
        for (DeviceShare share : order.devices()) {
            AttemptOrder.MigInstance instance = share.instance();
            if (instance != null) {
                instances.add(share.index() + ":" + instance.profile() + ":" + instance.firstSlice());
            }
        }
        return String.join(",", instances);
    }

    private static Map<String, String> variables(AttemptOrder order, Path work, Path checkpoints) {
        Map<String, String> variables = new TreeMap<>();
        variables.put("PATH", Commands.PATH);
        variables.put("HOME", work.toString());
        variables.put("TMPDIR", work.toString());
        variables.put("LANG", "C.UTF-8");
        variables.putAll(order.environment());
        String devices = devices(order).stream().map(String::valueOf).collect(Collectors.joining(","));
        variables.put("CUDA_VISIBLE_DEVICES", devices);
        variables.put("CUDA_DEVICE_ORDER", "PCI_BUS_ID");
        variables.put(ProcessGroup.ATTEMPT_VARIABLE, order.attemptId().toString());
        variables.put("QM_ATTEMPT", Integer.toString(order.attemptNumber()));
        variables.put("QM_WORKLOAD", order.workloadId().toString());
        variables.put("QM_TENANT", order.tenant());
        variables.put("QM_CHECKPOINT_DIR", checkpoints.toString());
        if (!instances(order).isEmpty()) {
            variables.put("QM_MIG", instances(order));
        }
        return variables;
    }
}
