package io.quartermaster.capacity.inventory;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** Nodes as the API speaks of them. */
final class NodeApi {

    private NodeApi() {}

    /** What the service knows of a node's whereabouts. */
    @Schema(name = "NodeContact")
    enum Contact {
        NEVER_HEARD,
        UP,
        /** Given up by the leader; it comes back when it is heard again. */
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

            @Schema(description = "thousandths of a core; absent: what its agent sees") @Nullable
            Long cpuMilli,

            @Schema(description = "absent: what its agent sees") @Nullable
            Long memoryMiB,

            @Nullable Map<String, String> labels,

            @Schema(description = "the domains it lies in, the widest first", examples = "[\"z1\",\"rack7\"]") @Nullable
            List<String> topology) {}

    @Schema(name = "NodePatch", description = "What is absent stays as it is; null returns a field to its default.")
    record Patch(
            @Schema(description = "Name of its pool. It changes only while nothing runs on the node. Null is refused.")
            @Nullable
            String pool,

            @Schema(description = "false: nothing new starts on it, what runs goes on") @Nullable
            Boolean schedulable,

            @Schema(description = "Thousandths of a processor core; null returns to what its agent sees.") @Nullable
            Long cpuMilli,

            @Schema(description = "Main memory in MiB; null returns to what its agent sees.") @Nullable
            Long memoryMiB,

            @Schema(
                    description =
                            "The labels that change, each a key and a value. A label whose value is null is removed; null for all removes all.")
            @Nullable
            Map<String, @Nullable String> labels,

            @Schema(description = "The domains that the node lies in, the widest first; null removes them.") @Nullable
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

        /** What is null here has its default. */
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

    /** What can be set of a node; {@code pool} is the pool's name. */
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

    @Schema(name = "NodeAgent", description = "The agent of the node as last heard.")
    record Agent(
            String version,
            NodeIsolation isolation,

            @Schema(
                    description = "how it lets preempted work stand still off the GPUs; absent where it cannot",
                    enumeration = {"signals", "cuda-checkpoint"})
            @Nullable
            String pausing,

            Instant lastHeard,

            @Schema(
                    description =
                            "when another agent with the credential of this node was last refused because this one held"
                                    + " the lease; absent: never. Two machines, or two state folders, then use one credential")
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
                    description =
                            "Warnings: the change was made, but may not do what you expect. In answers to writes only.")
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

        /** Whether a request to add it asks for what is there; being cordoned is no part of that. */
        boolean says(Request request, String wantedPool) {
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
