package io.quartermaster.capacity.inventory;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** Requests and answers of the API for nodes. */
final class NodeApi {

    private NodeApi() {}

    /** The contact between the service and a node. */
    @Schema(name = "NodeContact")
    enum Contact {
        NEVER_HEARD,
        UP,
        /** The leader gave the node up; it comes back when its agent reports again. */
        LOST
    }

    @Schema(name = "NodeRequest")
    record Request(
            @Schema(required = true, examples = "gpu-017") @Nullable
            String name,

            @Schema(required = true, description = "name of its cluster") @Nullable
            String cluster,

            @Schema(required = true, description = "name of its pool") @Nullable
            String pool,

            @Schema(description = "thousandths of a CPU core; absent: the number that its agent reports") @Nullable
            Long cpuMilli,

            @Schema(description = "absent: the amount that its agent reports") @Nullable
            Long memoryMiB,

            @Nullable Map<String, String> labels,

            @Schema(description = "topology domains of the node, the widest first", examples = "[\"z1\",\"rack7\"]")
            @Nullable
            List<String> topology) {}

    @Schema(name = "NodePatch", description = "An absent field stays unchanged; null returns a field to its default.")
    record Patch(
            @Schema(description = "Name of its pool. It changes only while no work runs on the node. Null is refused.")
            @Nullable
            String pool,

            @Schema(description = "false: no new work starts on the node, and running work continues") @Nullable
            Boolean schedulable,

            @Schema(description = "Thousandths of a processor core; null returns to the number that its agent reports.")
            @Nullable
            Long cpuMilli,

            @Schema(description = "Main memory in MiB; null returns to the amount that its agent reports.") @Nullable
            Long memoryMiB,

            @Schema(
                    description = "The labels that change, each a key and a value. A label whose value is null is "
                            + "removed; null for all removes all.")
            @Nullable
            Map<String, @Nullable String> labels,

            @Schema(description = "Topology domains of the node, the widest first; null removes them.") @Nullable
            List<String> topology) {

        static Patch of(Settings now) {
            return new Patch(
                    now.pool(),
                    now.schedulable(),
                    now.cpuMilli(),
                    now.memoryMiB(),
                    new TreeMap<>(now.labels()),
                    now.topology());
        }

        /** A null field takes its default. */
        Settings settings() {
            return new Settings(
                    pool == null ? "" : pool,
                    schedulable == null || schedulable,
                    cpuMilli,
                    memoryMiB,
                    labels == null ? Map.of() : labels,
                    topology == null ? List.of() : topology);
        }
    }

    /** The settings of a node; {@code pool} is the pool's name. */
    record Settings(
            String pool,
            boolean schedulable,
            @Nullable Long cpuMilli,
            @Nullable Long memoryMiB,
            Map<String, String> labels,
            List<String> topology) {

        static Settings of(Request request, String pool) {
            return new Settings(
                    pool,
                    true,
                    request.cpuMilli(),
                    request.memoryMiB(),
                    request.labels() == null ? Map.of() : request.labels(),
                    request.topology() == null ? List.of() : request.topology());
        }
    }

    @Schema(name = "Gpu", description = "A GPU as the node's agent reported it.")
    record Gpu(int index, String uuid, String model, long memoryMiB, boolean mig, boolean healthy) {}

    @Schema(name = "NodeAgent", description = "The agent of the node, as of its last report.")
    record Agent(
            String version,
            NodeIsolation isolation,

            @Schema(
                    description = "how the agent pauses preempted work and frees its GPUs; absent where it cannot",
                    enumeration = {"signals", "cuda-checkpoint"})
            @Nullable
            String pausing,

            Instant lastHeard,

            @Schema(
                    description = "last time that the service refused another agent with this node's "
                            + "credential because this agent held the lease; absent: never. Otherwise two "
                            + "machines, or two state folders, use one credential")
            @Nullable
            Instant otherAgentSeenAt) {}

    @Schema(name = "Node")
    record View(
            UUID id,
            String name,
            String cluster,
            String pool,
            boolean schedulable,
            Contact contact,
            @Nullable Long cpuMilli,
            @Nullable Long memoryMiB,
            Map<String, String> labels,
            List<String> topology,
            @Nullable Agent agent,
            List<Gpu> gpus,
            long version,
            Instant createdAt,

            @Schema(
                    description = "Warnings: the service accepts the change, but it may not have the effect "
                            + "that you expect. In answers to writes only.")
            @Nullable
            List<String> warnings) {

        View with(List<String> found) {
            return new View(
                    id,
                    name,
                    cluster,
                    pool,
                    schedulable,
                    contact,
                    cpuMilli,
                    memoryMiB,
                    labels,
                    topology,
                    agent,
                    gpus,
                    version,
                    createdAt,
                    found);
        }

        Settings settings() {
            return new Settings(pool, schedulable, cpuMilli, memoryMiB, labels, topology);
        }

        /** Whether a request to add the node matches the existing node, except for its cordon. */
        boolean matches(Request request, String wantedPool) {
            Settings wanted = Settings.of(request, wantedPool);
            return cluster.equals(request.cluster())
                    && settings()
                            .equals(new Settings(
                                    wanted.pool(),
                                    schedulable,
                                    wanted.cpuMilli(),
                                    wanted.memoryMiB(),
                                    wanted.labels(),
                                    wanted.topology()));
        }
    }
}
