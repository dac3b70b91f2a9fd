package io.quartermaster.agent;

import io.quartermaster.agent.protocol.Inventory.Isolation;
import io.quartermaster.agent.protocol.Protocol;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * How one agent is run.
 *
 * @param server base address of the service, without {@code /v1}
 * @param trustsTenants see {@link io.quartermaster.agent.protocol.Inventory}
 * @param stopsWorkOnClose whether work ends with the agent, for a node that exists only while a person looks at it.
 *     Otherwise work goes on under its supervisors until the lease ends
 * @param paused whether and how work is paused here
 * @param work what work may do here, and what is kept of it
 * @param log takes one line for people at a time
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
        Paused paused,
        WorkSettings work,
        Pace pace,
        Consumer<String> log) {
    public AgentConfig {
        Protocol.name("node", node);
        if (isolation != Isolation.NONE && !(work.confinement instanceof Confinement.None)) {
            throw new IllegalArgumentException("what confines all work alike goes with isolation none only");
        }
    }

    /**
     * What work may do, and what is kept of it.
     *
     * @param checkpointRetention how long checkpoints are kept that no attempt on this node uses
     */
    public record WorkSettings(Confinement confinement, Duration checkpointRetention) {
        public static final WorkSettings USUAL = new WorkSettings(new Confinement.None(), Duration.ofDays(90));

        public WorkSettings {
            if (checkpointRetention.compareTo(Duration.ofHours(1)) < 0) {
                throw new IllegalArgumentException("checkpoints are kept for an hour at least");
            }
        }
    }

    /** Of this node's client in the operator's realm. */
    public record Credentials(URI tokenEndpoint, String clientId, String clientSecret) {
        @Override
        public String toString() {
            return clientId + " at " + tokenEndpoint;
        }
    }

    /** Which devices the node offers. */
    public sealed interface Devices {
        /** What the driver shows. */
        record Real() implements Devices {}

        /** As many as named, made up; in MIG mode or not. */
        record Simulated(int count, String model, long memoryMiB, boolean mig) implements Devices {}
    }

    /**
     * What is done about work that is to be paused.
     *
     * @param most attempts that are kept paused at a time, each with its main memory; 0 for none
     * @param cudaCheckpoint the program that moves the memory of NVIDIA devices; looked for where it is not named
     */
    public record Paused(int most, Optional<Path> cudaCheckpoint) {
        public static final Paused USUAL = new Paused(4, Optional.empty());

        public Paused {
            if (most < 0 || most > Protocol.MAX_ATTEMPTS) {
                throw new IllegalArgumentException(
                        "attempts kept paused: from 0 to %d, not %d".formatted(Protocol.MAX_ATTEMPTS, most));
            }
        }
    }

    /**
     * How quick and how patient the agent is.
     *
     * @param tickMillis how often it and the supervisors look at what runs
     * @param maxWaitMillis the longest it lets the service hold a call; a third of the lease if that is less
     * @param logMillis how often growing output is reported
     * @param minBackoffMillis wait after a first failed call; doubled with each further one
     * @param maxBackoffMillis the longest such wait
     * @param deviceMillis how often the driver is asked
     * @param outputLimitBytes kept of each attempt's output
     */
    public record Pace(
            long tickMillis,
            long maxWaitMillis,
            long logMillis,
            long minBackoffMillis,
            long maxBackoffMillis,
            long deviceMillis,
            long outputLimitBytes) {
        public static final Pace USUAL = new Pace(100, 20_000, 2_000, 200, 10_000, 30_000, 16L << 20);
    }
}
