package io.quartermaster.execution.agents;

import io.quartermaster.agent.protocol.AttemptReport;
import io.quartermaster.agent.protocol.SyncRequest;
import io.quartermaster.platform.CallBatcher;
import io.quartermaster.platform.db.ExecutorDatabase;
import io.smallrye.mutiny.Uni;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonArray;
import io.vertx.mutiny.sqlclient.Row;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jboss.logging.Logger;

/**
 * Writes the contacts of many nodes, and their reports, with one statement. It takes only the plain case: the agent
 * that holds the node's valid lease renews it, and its inventory is the stored one. Every other call gets no renewal
 * here, and neither does a node whose row another transaction has locked: the batch waits for no row of a contact. A
 * renewal is committed when its caller gets it.
 */
@ApplicationScoped
class ContactBatch {

    private static final Logger LOG = Logger.getLogger(ContactBatch.class);

    /** The most calls in one statement. */
    private static final int MAX_CALLS = 128;

    private static final Duration BATCH_TIMEOUT = Duration.ofSeconds(5);

    /** The most characters of output that a call may bring into a batch. */
    private static final int MAX_LOG_CHARS = 64 * 1024;

    private static final String RENEWED = """
            with asked as (
                select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::uuid[],
                    $7::text[], $8::bigint[])
                  as x(node, agent_version, boot_id, instance_id, sequence, state_id, digest, lease_ms)),
            free as materialized (
                select c.node_id, x.* from asked x
                  join node n on n.name = x.node and n.retired_at is null
                  join node_contact c on c.node_id = n.id
                 order by c.node_id for update of c skip locked),
            renewed as (
                update node_contact c set agent_version = f.agent_version, instance_id = f.instance_id,
                        sequence = f.sequence, state_id = f.state_id, last_heard = clock_timestamp(),
                        lease_until = clock_timestamp() + f.lease_ms * interval '1 millisecond'
                  from free f
                 where c.node_id = f.node_id and c.inventory_digest = f.digest and c.lost_at is null
                   and c.lease_until > clock_timestamp() and c.boot_id = f.boot_id
                   and coalesce(c.state_id = f.state_id, true)
                   and (c.instance_id <> f.instance_id or c.sequence < f.sequence)
                returning c.node_id, f.node, old.last_heard as before,
                    (select n.revision from node n where n.id = c.node_id) as revision)
            """;

    private static final String CONTACTS =
            RENEWED + " select node_id, node, revision, 0::bigint as announced from renewed";

    private static final String CONTACTS_AND_REPORTS =
            RENEWED + ", heard as (select node_id, node, before from renewed), " + ReportRows.STORED.formatted("$9")
                    + " select node_id, node, revision, (select count(*) from announced) as announced from renewed";

    private final ExecutorDatabase database;
    private final CallBatcher<Call, Optional<AgentStore.ContactResult>> writes;

    private record Call(String node, SyncRequest request, Duration lease) {}

    ContactBatch(ExecutorDatabase database, Vertx vertx) {
        this.database = database;
        this.writes = new CallBatcher<>(vertx, MAX_CALLS, BATCH_TIMEOUT, this::write);
    }

    /**
     * Renews the lease of the node and stores its reports; empty if the call is not the plain case, and has changed
     * nothing.
     *
     * @param lease how long the node counts as leased from the commit
     */
    Uni<Optional<AgentStore.ContactResult>> renew(String node, SyncRequest request, Duration lease) {
        if (request.inventory() != null || logCharacters(request) > MAX_LOG_CHARS) {
            return Uni.createFrom().item(Optional.empty());
        }
        return writes.call(new Call(node, request, lease))
                .onFailure()
                .invoke(e -> LOG.debugf("contacts are written one by one: %s", e.getMessage()))
                .onFailure()
                .recoverWithItem(Optional.empty());
    }

    private static int logCharacters(SyncRequest request) {
        int sum = 0;
        for (AttemptReport attempt : request.attempts()) {
            AttemptReport.LogTail log = attempt.log();
            sum += log == null ? 0 : log.text().length();
        }
        return sum;
    }

    private Uni<List<Optional<AgentStore.ContactResult>>> write(List<Call> calls) {
        // Of two calls of one node, the second is written by itself.
        Map<String, Call> first = new LinkedHashMap<>();
        calls.forEach(call -> first.putIfAbsent(call.node(), call));
        List<Call> written = List.copyOf(first.values());
        JsonArray reports = new JsonArray();
        written.forEach(
                call -> ReportRows.json(reports, call.node(), call.request().attempts()));
        List<Object> parameters = new ArrayList<>(List.of(
                written.stream().map(Call::node).toArray(String[]::new),
                written.stream().map(call -> call.request().agentVersion()).toArray(String[]::new),
                written.stream().map(call -> call.request().bootId()).toArray(String[]::new),
                written.stream()
                        .map(call -> call.request().instanceId().toString())
                        .toArray(String[]::new),
                written.stream().map(call -> call.request().sequence()).toArray(Long[]::new),
                written.stream().map(call -> call.request().stateId()).toArray(UUID[]::new),
                written.stream().map(call -> call.request().inventoryDigest()).toArray(String[]::new),
                written.stream().map(call -> call.lease().toMillis()).toArray(Long[]::new)));
        if (!reports.isEmpty()) {
            parameters.add(reports);
        }
        return database.on(connection -> connection
                .preparedQuery(reports.isEmpty() ? CONTACTS : CONTACTS_AND_REPORTS)
                .execute(Tuple.tuple(parameters))
                .map(rows -> {
                    Map<String, AgentStore.ContactResult> renewed = new HashMap<>();
                    for (Row row : rows) {
                        Call call = first.get(row.getString("node"));
                        if (call != null) {
                            renewed.put(call.node(), toContactResult(row, call));
                        }
                    }
                    return calls.stream()
                            .map(call -> first.get(call.node()) == call
                                    ? Optional.ofNullable(renewed.get(call.node()))
                                    : Optional.<AgentStore.ContactResult>empty())
                            .toList();
                }));
    }

    private static AgentStore.ContactResult toContactResult(Row row, Call call) {
        return new AgentStore.ContactResult(
                row.getUUID("node_id"),
                row.getLong("revision"),
                !call.request().attempts().isEmpty() && row.getLong("announced") > 0,
                AgentStore.LeaseStatus.LEASED,
                call.request().inventoryDigest());
    }
}
