package io.quartermaster.agent.protocol;

import static io.quartermaster.agent.protocol.Protocol.check;
import static io.quartermaster.agent.protocol.Protocol.isLine;

import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The state that is: what the node has and what runs there.
 *
 * @param formatVersion {@link Protocol#FORMAT_VERSION} of the sender
 * @param bootId new with each boot of the operating system; when it changes, nothing that ran before runs now
 * @param instanceId new with each start of the agent
 * @param stateId of the agent's state folder, made with it: two agents with one credential differ in it. Null from agents that
 *     know nothing of it
 * @param sequence counts the requests of one instance from 1; a request that arrives after a later one is old news
 *     and changes nothing
 * @param appliedRevision revision of the last reply that was carried out, 0 if none since the agent started
 * @param waitMillis how long the service may wait for a revision beyond {@code appliedRevision} before it answers
 * @param attempts every attempt of which the agent has a record, in the order of their ids
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
        Inventory inventory,
        List<AttemptReport> attempts) {
    public SyncRequest {
        check(formatVersion >= 1, "formatVersion must be at least 1, was %s", formatVersion);
        check(
                isLine(agentVersion, Protocol.MAX_WORD) && isLine(bootId, Protocol.MAX_WORD),
                "agentVersion and bootId: from 1 to %s characters, none of them a control character",
                Protocol.MAX_WORD);
        check(sequence >= 1, "sequence must be at least 1, was %s", sequence);
        check(appliedRevision >= 0, "appliedRevision must not be negative, was %s", appliedRevision);
        check(
                waitMillis >= 0 && waitMillis <= Protocol.MAX_WAIT_MILLIS,
                "waitMillis must be from 0 to %s, was %s",
                Protocol.MAX_WAIT_MILLIS,
                waitMillis);
        attempts = List.copyOf(attempts);
        check(attempts.size() <= Protocol.MAX_ATTEMPTS, "attempts: at most %s", Protocol.MAX_ATTEMPTS);
    }

    /** The same request, sent so long after its reports were made. */
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
                attempts.stream().map(report -> report.agedBy(millis)).toList());
    }
}
