package io.quartermaster.agent.protocol;

import static io.quartermaster.agent.protocol.Protocol.check;

import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The complete desired state of a node: the agent stops every running attempt that is not listed here.
 *
 * @param formatVersion {@link Protocol#FORMAT_VERSION} of the sender
 * @param revision revision of this state; it never decreases for a node
 * @param leaseMillis how long the agent may run work, from the moment it <em>sent</em> the answered request. The
 *     service counts from its answer and adds a margin, so the lease ends first for the agent
 * @param paused attempts that stay paused, beside those that an order takes over; the agent ends every other paused
 *     one. Null from a service that does not support pausing: then all stay
 * @param forget attempts whose end the service has processed: the agent may delete its records of them
 * @param inventoryDigest names the inventory that the service has stored for the node, which is the one of the answered
 *     request: the agent may send it in place of that inventory. Only the service computes it. Null from a service that
 *     does not support it: then the agent sends its inventory each time
 */
public record SyncReply(
        int formatVersion,
        long revision,
        long leaseMillis,
        List<AttemptOrder> attempts,
        @Nullable List<UUID> paused,
        List<UUID> forget,
        @Nullable String inventoryDigest) {
    public SyncReply {
        check(formatVersion >= 1, "formatVersion must be at least 1, was %s", formatVersion);
        check(revision >= 0, "revision must not be negative, was %s", revision);
        check(leaseMillis > 0, "leaseMillis must be positive, was %s", leaseMillis);
        attempts = List.copyOf(attempts);
        check(attempts.size() <= Protocol.MAX_ATTEMPTS, "attempts: at most %s", Protocol.MAX_ATTEMPTS);
        paused = paused == null ? null : List.copyOf(paused);
        forget = List.copyOf(forget);
    }
}
