package io.quartermaster.execution.agents;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.quartermaster.agent.protocol.AttemptReport;
import io.quartermaster.agent.protocol.AttemptState;
import io.quartermaster.agent.protocol.Protocol;
import io.quartermaster.agent.protocol.SyncReply;
import io.quartermaster.agent.protocol.SyncRequest;
import io.quartermaster.platform.http.ProblemException;
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
    private static final long SHORTEST_WAIT_NANOS = 1_000_000L;

    private static final Logger LOG = Logger.getLogger(AgentService.class);

    private final AgentProtocolConfig config;
    private final AgentStore store;
    private final NodeWakeups nodeWakeups;
    private final Wakeups wakeups;
    private final Counter refusedAgents;

    AgentService(
            AgentProtocolConfig config,
            AgentStore store,
            NodeWakeups nodeWakeups,
            Wakeups wakeups,
            MeterRegistry metrics) {
        this.refusedAgents = Counter.builder("quartermaster.agents.refused")
                .description("calls of agents that were refused because another agent holds the lease of their node")
                .register(metrics);
        this.config = config;
        this.store = store;
        this.nodeWakeups = nodeWakeups;
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
        // The lease counts from now, plus the longest time for which the call may be held. So it ends after the
        // agent's, which counts from when the agent sent the request.
        Duration lease = config.lease().plus(config.margin()).plus(wait);
        return store.node(nodeName)
                .map(node -> node.orElseThrow(ProblemException::notFound))
                .chain(node -> store.take(node.id(), request, lease)
                        .invoke(taken -> {
                            if (taken.announced() || taken.standing() == AgentStore.Standing.LAPSED) {
                                wakeups.leader();
                            }
                        })
                        .invoke(taken -> requireLease(nodeName, request, taken.standing()))
                        .chain(taken -> awaitNews(node.id(), request, System.nanoTime() + wait.toNanos())));
    }

    /**
     * Refuses to send orders without the lease: the agent could carry them out while the leader gives the node up, or
     * while another agent runs.
     */
    private void requireLease(String node, SyncRequest request, AgentStore.Standing standing) {
        switch (standing) {
            case LEASED -> {}
            case LAPSED ->
                throw ProblemException.of(
                        503,
                        "lease-lapsed",
                        "the lease of node " + node
                                + " has expired and the service is giving the node up; repeat the request in a moment");
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

    private Uni<SyncReply> awaitNews(UUID node, SyncRequest request, long untilNanos) {
        return store.revision(node)
                .chain(revision -> store.forgettable(node, ended(request)).chain(forget -> {
                    long leftNanos = untilNanos - System.nanoTime();
                    boolean news = revision != request.appliedRevision() || !forget.isEmpty();
                    return news || leftNanos < SHORTEST_WAIT_NANOS
                            ? reply(node, revision, forget)
                            : nodeWakeups
                                    .await(node.toString(), shorter(config.poll(), Duration.ofNanos(leftNanos)))
                                    .chain(woken -> awaitNews(node, request, untilNanos));
                }));
    }

    /** The orders are read after the revision, so they may be newer than it, but never older. */
    private Uni<SyncReply> reply(UUID node, long revision, List<UUID> forget) {
        return store.wanted(node)
                .map(wanted -> new SyncReply(
                        Protocol.FORMAT_VERSION,
                        revision,
                        config.lease().toMillis(),
                        wanted.attempts(),
                        wanted.paused(),
                        forget));
    }

    private static List<UUID> ended(SyncRequest request) {
        return request.attempts().stream()
                .filter(attempt -> attempt.state() instanceof AttemptState.Ended)
                .map(AttemptReport::attemptId)
                .toList();
    }

    private static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }
}
