package io.quartermaster.execution.agents;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.quartermaster.agent.protocol.AttemptReport;
import io.quartermaster.agent.protocol.AttemptState;
import io.quartermaster.agent.protocol.Protocol;
import io.quartermaster.agent.protocol.SyncReply;
import io.quartermaster.agent.protocol.SyncRequest;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.http.ShutdownNotice;
import io.quartermaster.platform.inbox.Wakeups;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.jboss.logging.Logger;

/**
 * Serves one call of the protocol. It applies the report, then answers with the desired state: immediately if that has
 * changed, otherwise as soon as it changes or the wait is over.
 */
@ApplicationScoped
class AgentService {

    /** Timers count in milliseconds, and refuse delays below one. */
    private static final long MIN_WAIT_NANOS = 1_000_000L;

    private static final Logger LOG = Logger.getLogger(AgentService.class);

    private final AgentProtocolConfig config;
    private final AgentStore store;
    private final DesiredStateStore desiredStates;
    private final HeldCalls heldCalls;
    private final ShutdownNotice shutdownNotice;
    private final Wakeups wakeups;
    private final Counter refusedAgents;

    AgentService(
            AgentProtocolConfig config,
            AgentStore store,
            DesiredStateStore desiredStates,
            HeldCalls heldCalls,
            ShutdownNotice shutdownNotice,
            Wakeups wakeups,
            MeterRegistry metrics) {
        this.refusedAgents = Counter.builder("quartermaster.agents.refused")
                .description("calls of agents that were refused because another agent holds the lease of their node")
                .register(metrics);
        this.config = config;
        this.store = store;
        this.desiredStates = desiredStates;
        this.heldCalls = heldCalls;
        this.shutdownNotice = shutdownNotice;
        this.wakeups = wakeups;
    }

    Uni<SyncReply> sync(String nodeName, SyncRequest request) {
        if (request.formatVersion() != Protocol.FORMAT_VERSION) {
            throw ProblemException.invalid(
                    "formatVersion",
                    "this service speaks another version of the protocol",
                    Integer.toString(Protocol.FORMAT_VERSION));
        }
        Duration wait = Duration.ofMillis(
                Math.min(request.waitMillis(), config.maxWait().toMillis()));
        // The lease counts from the commit of this contact, plus the longest time for which the call may be held. So it
        // ends after the
        // agent's, which counts from when the agent sent the request.
        Duration lease = config.lease().plus(config.margin()).plus(wait);
        long arrivedNanos = System.nanoTime();
        return store.recordContact(nodeName, request, lease)
                .invoke(contact -> {
                    if (contact.announced() || contact.leaseStatus() == AgentStore.LeaseStatus.LAPSED) {
                        wakeups.requestLeaderWakeup();
                    }
                })
                .invoke(contact -> requireLease(nodeName, request, contact.leaseStatus()))
                .chain(contact -> answer(contact, request, arrivedNanos, arrivedNanos + wait.toNanos()));
    }

    /**
     * Refuses to send orders without the lease: the agent could carry them out while the leader gives the node up, or
     * while another agent runs.
     */
    private void requireLease(String node, SyncRequest request, AgentStore.LeaseStatus leaseStatus) {
        switch (leaseStatus) {
            case LEASED -> {}
            case LAPSED ->
                throw ProblemException.of(
                        503,
                        "lease-lapsed",
                        "the lease of node " + node
                                + " has expired and the service is giving the node up; repeat the request in a moment");
            case OF_UNKNOWN_INVENTORY ->
                throw ProblemException.conflict(
                        Protocol.INVENTORY_UNKNOWN,
                        "the service has not stored the inventory of node " + node
                                + " that this digest names; repeat the request with the inventory");
            case OF_ANOTHER_AGENT -> {
                refusedAgents.increment();
                LOG.warnf(
                        "node %s: a second agent with its credential is refused while the lease of the first is valid"
                                + " (state folder %s, boot %s)",
                        node, request.stateId(), request.bootId());
                throw ProblemException.conflict(
                        "another-agent",
                        "another agent holds the lease of node " + node
                                + ": one with another state folder, or one from before this machine's last restart. "
                                + "End that"
                                + " agent, or wait until its lease has expired");
            }
        }
    }

    /** Answers immediately if the agent has another revision or may forget an attempt; otherwise it holds the call. */
    private Uni<SyncReply> answer(
            AgentStore.ContactResult contact, SyncRequest request, long arrivedNanos, long untilNanos) {
        boolean hasEnded = request.attempts().stream().anyMatch(a -> a.state() instanceof AttemptState.Ended);
        return contact.revision() != request.appliedRevision() || hasEnded || isOver(untilNanos)
                ? readAndAnswer(contact, request, untilNanos)
                : holdCall(contact, request, contact.revision(), arrivedNanos, untilNanos);
    }

    private Uni<SyncReply> holdCall(
            AgentStore.ContactResult contact, SyncRequest request, long revision, long readAtNanos, long untilNanos) {
        return heldCalls
                .hold(contact.node(), revision, readAtNanos, Duration.ofNanos(untilNanos - System.nanoTime()))
                .chain(woken -> readAndAnswer(contact, request, untilNanos));
    }

    /** The desired state is read after the list to forget: an attempt on that list is never ordered to run again. */
    private Uni<SyncReply> readAndAnswer(AgentStore.ContactResult contact, SyncRequest request, long untilNanos) {
        long readAtNanos = System.nanoTime();
        return desiredStates
                .forgettable(contact.node(), endedAttempts(request))
                .chain(forget -> desiredStates.desired(contact.node()).chain(desired -> {
                    boolean news = desired.revision() != request.appliedRevision() || !forget.isEmpty();
                    return news || isOver(untilNanos)
                            ? Uni.createFrom().item(reply(contact, desired, forget))
                            : holdCall(contact, request, desired.revision(), readAtNanos, untilNanos);
                }));
    }

    private boolean isOver(long untilNanos) {
        return shutdownNotice.isGiven() || untilNanos - System.nanoTime() < MIN_WAIT_NANOS;
    }

    private SyncReply reply(
            AgentStore.ContactResult contact, DesiredStateStore.DesiredState desired, List<UUID> forget) {
        return new SyncReply(
                Protocol.FORMAT_VERSION,
                desired.revision(),
                config.lease().toMillis(),
                desired.attempts(),
                desired.paused(),
                forget,
                contact.inventoryDigest());
    }

    private static List<UUID> endedAttempts(SyncRequest request) {
        return request.attempts().stream()
                .filter(attempt -> attempt.state() instanceof AttemptState.Ended)
                .map(AttemptReport::attemptId)
                .toList();
    }
}
