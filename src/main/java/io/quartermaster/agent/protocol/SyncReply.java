package io.quartermaster.agent.protocol;

import static io.quartermaster.agent.protocol.Protocol.check;

import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The state that should be, whole: what runs on the node and is not listed here is stopped.
 *
 * @param formatVersion {@link Protocol#FORMAT_VERSION} of the sender
 * @param revision of this state; never falls for a node
 * @param leaseMillis how long the agent may run work from the moment it <em>sent</em> the request that this answers.
 *     The service counts from when it answered, plus a margin, so the agent's count ends first
 * @param paused attempts that stay paused, beside those that an order takes over; every other paused one is ended. Null
 *     from a service that knows nothing of pausing: then all stay
 * @param forget attempts whose end has been taken in: the agent may delete what it has of them
 */
public record SyncReply(
        int formatVersion,
        long revision,
        long leaseMillis,
        List<AttemptOrder> attempts,
        @Nullable List<UUID> paused,
        List<UUID> forget) {
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
