package io.quartermaster.agent.protocol;

import static io.quartermaster.agent.protocol.Protocol.require;
import static io.quartermaster.agent.protocol.Protocol.requireBetween;
import static io.quartermaster.agent.protocol.Protocol.requireLine;
import static io.quartermaster.agent.protocol.Protocol.requireList;
import static io.quartermaster.agent.protocol.Protocol.requirePresent;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The actual state of a node: its hardware and its attempts.
 *
 * @param formatVersion {@link Protocol#FORMAT_VERSION} of the sender
 * @param bootId new with each boot of the operating system; when it changes, all earlier processes have ended
 * @param instanceId new with each start of the agent
 * @param stateId id of the agent's state folder, created with it: two agents with one credential differ in it. Null
 * from agents that do not support it
 * @param sequence counts the requests of one instance from 1; a request that arrives after a later one is outdated and
 *     changes nothing
 * @param appliedRevision revision of the last reply that the agent carried out, 0 if none since it started
 * @param waitMillis how long the service may wait for a revision after {@code appliedRevision} before it answers
 * @param inventory the node's hardware and abilities; null in place of {@code inventoryDigest}. Agents that do not
 *     support digests send it each time
 * @param inventoryDigest {@link SyncReply#inventoryDigest} of the reply to the request that carried this node's present
 *     inventory; null when the inventory itself is sent, which
 *     counts if both are there
 * @param attempts every attempt that the agent has a record of, once each, in the order of their ids
 */
public record SyncRequest(
        int formatVersion,
        String agentVersion,
        String bootId,
        UUID instanceId,
        @Nullable UUID stateId,
        long sequence,
        long appliedRevision,
        long waitMillis,
        @Nullable Inventory inventory,
        @Nullable String inventoryDigest,
        List<AttemptReport> attempts) {
    public SyncRequest {
        requireBetween("formatVersion", formatVersion, 1, Integer.MAX_VALUE);
        requireLine("agentVersion", agentVersion);
        requireLine("bootId", bootId);
        requirePresent("instanceId", instanceId, "a UUID");
        requireBetween("sequence", sequence, 1, Long.MAX_VALUE);
        requireBetween("appliedRevision", appliedRevision, 0, Long.MAX_VALUE);
        requireBetween("waitMillis", waitMillis, 0, Protocol.MAX_WAIT_MILLIS);
        if (inventoryDigest == null) {
            requirePresent("inventory", inventory, "an object");
        } else {
            requireLine("inventoryDigest", inventoryDigest);
        }
        requireList("attempts", attempts, Protocol.MAX_ATTEMPTS);
        attempts = List.copyOf(attempts);
        requireEachOnce(attempts);
    }

    private static void requireEachOnce(List<AttemptReport> attempts) {
        Set<UUID> seen = new HashSet<>();
        for (int i = 0; i < attempts.size(); i++) {
            UUID id = attempts.get(i).attemptId();
            require(seen.add(id), "attempts[" + i + "].attemptId", id + " a second time", "each attempt once");
        }
    }

    /** This request, sent so long after its reports were made. */
    public SyncRequest agedBy(long millis) {
        return new SyncRequest(
                formatVersion,
                agentVersion,
                bootId,
                instanceId,
                stateId,
                sequence,
                appliedRevision,
                waitMillis,
                inventory,
                inventoryDigest,
                attempts.stream().map(report -> report.agedBy(millis)).toList());
    }
}
