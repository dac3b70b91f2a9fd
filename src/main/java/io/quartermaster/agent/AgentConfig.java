package io.quartermaster.agent;

import io.quartermaster.agent.protocol.Inventory.Isolation;
import io.quartermaster.agent.protocol.Protocol;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The configuration of one agent.
 *
 * @param server base address of the service, without {@code /v1}
 * @param trustsTenants see {@link io.quartermaster.agent.protocol.Inventory}
 * @param stopsWorkOnClose whether work ends with the agent, for a node that exists only during a demonstration.
 *     Otherwise work continues under its supervisors until the lease ends
 * @param pauseSettings whether and how this node pauses work
 * @param work the confinement of work, and the retention of its checkpoints
 * @param log receives one line for people at a time
 */
public record AgentConfig(
        URI server,
        String node,
        Credentials credentials,
        Path stateFolder,
        Devices devices,
        Isolation isolation,
        boolean trustsTenants,
        boolean stopsWorkOnClose,
        PauseSettings pauseSettings,
        WorkSettings work,
        Pace pace,
        Consumer<String> log) {
    public AgentConfig {
        Protocol.name("node", node);
        if (isolation != Isolation.NONE && !(work.confinement instanceof Confinement.None)) {
            throw new IllegalArgumentException("a confinement of all work needs isolation none");
        }
    }

    /**
     * The confinement of work, and the retention of its checkpoints.
     *
     * @param checkpointRetention how long the agent keeps checkpoints that no attempt on this node uses
     */
    public record WorkSettings(Confinement confinement, Duration checkpointRetention) {
        public static final WorkSettings DEFAULT = new WorkSettings(new Confinement.None(), Duration.ofDays(90));

        public WorkSettings {
            if (checkpointRetention.compareTo(Duration.ofHours(1)) < 0) {
                throw new IllegalArgumentException("checkpoints must be kept for at least an hour");
            }
        }
    }

    /** The credentials of this node's client in the operator's realm. */
    public record Credentials(URI tokenEndpoint, String clientId, String clientSecret) {
        @Override
        public String toString() {
            return clientId + " at " + tokenEndpoint;
        }
    }

    /** The devices that the node offers. */
    public sealed interface Devices {
        /** The devices that the driver reports. */
        record Real() implements Devices {}

        /** Simulated devices, in MIG mode or not. */
        record Simulated(int count, String model, long memoryMiB, boolean mig) implements Devices {}
    }

    /**
     * How the node pauses work.
     *
     * @param maxPaused the most attempts that are paused at a time, each with its main memory; 0 for none
     * @param cudaCheckpoint the program that moves the memory of NVIDIA devices; if empty, the agent searches for it
     */
    public record PauseSettings(int maxPaused, Optional<Path> cudaCheckpoint) {
        public static final PauseSettings DEFAULT = new PauseSettings(4, Optional.empty());

        public PauseSettings {
            if (maxPaused < 0 || maxPaused > Protocol.MAX_ATTEMPTS) {
                throw new IllegalArgumentException(
                        "attempts kept paused: from 0 to %d, not %d".formatted(Protocol.MAX_ATTEMPTS, maxPaused));
            }
        }
    }

    /**
     * The intervals, waits and limits of the agent.
     *
     * @param tickMillis how often the agent and the supervisors check the running work
     * @param maxWaitMillis the longest time for which the service may hold a call; a sixth of the lease if that is less
     * @param logMillis how often growing output is reported
     * @param minBackoffMillis the wait after a first failed call; it doubles with each further one
     * @param maxBackoffMillis the longest such wait
     * @param deviceMillis how often the agent queries the driver
     * @param outputLimitBytes the bytes that are kept of each attempt's output
     */
    public record Pace(
            long tickMillis,
            long maxWaitMillis,
            long logMillis,
            long minBackoffMillis,
            long maxBackoffMillis,
            long deviceMillis,
            long outputLimitBytes) {
        public static final Pace DEFAULT = new Pace(100, 20_000, 2_000, 200, 10_000, 30_000, 16L << 20);
    }
}
