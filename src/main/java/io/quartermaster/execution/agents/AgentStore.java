package io.quartermaster.execution.agents;

import io.quartermaster.agent.protocol.AttemptReport;
import io.quartermaster.agent.protocol.Inventory;
import io.quartermaster.agent.protocol.SyncRequest;
import io.quartermaster.capacity.inventory.NodeIsolationRule;
import io.quartermaster.platform.db.ExecutorDatabase;
import io.quartermaster.platform.http.ProblemException;
import io.smallrye.mutiny.Uni;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.mutiny.sqlclient.Row;
import io.vertx.mutiny.sqlclient.RowSet;
import io.vertx.mutiny.sqlclient.SqlConnection;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Stores the contacts, inventories and reports of agents. It uses the system role: a node serves many tenants, and its
 * agent belongs to the operator.
 */
@ApplicationScoped
class AgentStore {

    /** $1 is the node, $2 its previous contact, $3 the reports. */
    private static final String REPORTS = "with heard as (select $1::uuid as node_id, $1::uuid::text as node,"
            + " $2::timestamptz as before), "
            + ReportRows.STORED.formatted("$3") + " select count(*) as announced from announced";

    private final ExecutorDatabase database;
    private final ContactBatch contactBatch;
    private final NodeIsolationRule nodeIsolationRule;

    AgentStore(ExecutorDatabase database, ContactBatch contactBatch, NodeIsolationRule nodeIsolationRule) {
        this.database = database;
        this.contactBatch = contactBatch;
        this.nodeIsolationRule = nodeIsolationRule;
    }

    /** A node that is not retired. */
    private record NodeRef(UUID id, long revision) {}

    private Uni<NodeRef> node(String name) {
        return database.on(connection -> connection
                .preparedQuery("select id, revision from node where name = $1 and retired_at is null")
                .execute(Tuple.of(name))
                .map(rows -> first(rows)
                        .map(row -> new NodeRef(row.getUUID("id"), row.getLong("revision")))
                        .orElseThrow(ProblemException::notFound)));
    }

    /** Whether the calling agent may run work on the node. */
    enum LeaseStatus {
        LEASED,
        /** The lease expired, and the leader has yet to give the node up: nothing may run there. */
        LAPSED,
        /** The lease is valid, and another agent holds it. */
        OF_ANOTHER_AGENT,
        /** The request names an inventory that is not stored, and changed nothing. */
        OF_UNKNOWN_INVENTORY
    }

    /**
     * The result of a request.
     *
     * @param revision of the node's desired state, read after the request arrived
     * @param announced whether the inbox has a new row for the leader
     * @param inventoryDigest names the stored inventory, which is the request's; null if the request changed nothing
     */
    record ContactResult(
            UUID node,
            long revision,
            boolean announced,
            LeaseStatus leaseStatus,
            @Nullable String inventoryDigest) {}

    /**
     * Applies the report of an agent. Renewals without a new inventory are written together with those of other nodes;
     * all others, and those that the batch could not write, in a transaction of their own.
     *
     * @param lease how long the node counts as leased from now
     */
    Uni<ContactResult> recordContact(String node, SyncRequest request, Duration lease) {
        return contactBatch.renew(node, request, lease).chain(renewed -> renewed.map(
                        renewal -> Uni.createFrom().item(renewal))
                .orElseGet(() -> node(node).chain(found -> recordContactAlone(found, request, lease))));
    }

    private Uni<ContactResult> recordContactAlone(NodeRef node, SyncRequest request, Duration lease) {
        return database.in(connection -> machineOf(connection, node.id(), request)
                .chain(machine -> machine.isEmpty()
                        ? Uni.createFrom()
                                .item(new ContactResult(
                                        node.id(), node.revision(), false, LeaseStatus.OF_UNKNOWN_INVENTORY, null))
                        : recordContactAlone(connection, node, request, machine.get(), lease)));
    }

    private Uni<ContactResult> recordContactAlone(
            SqlConnection connection, NodeRef node, SyncRequest request, Machine machine, Duration lease) {
        Inventory inventory = request.inventory();
        return requireFit(connection, node.id(), inventory)
                .chain(() -> writeContact(connection, node.id(), request, machine, lease))
                .chain(contact -> {
                    if (contact.isEmpty()) {
                        return readLeaseStatus(connection, node.id(), request)
                                .map(leaseStatus ->
                                        new ContactResult(node.id(), node.revision(), false, leaseStatus, null));
                    }
                    LeaseStatus leaseStatus = contact.get().leased() ? LeaseStatus.LEASED : LeaseStatus.LAPSED;
                    return (inventory == null
                                    ? Uni.createFrom().item(false)
                                    : writeInventory(connection, node.id(), inventory))
                            .chain(changed -> changed || contact.get().news()
                                    ? postNode(connection, node.id()).replaceWith(true)
                                    : Uni.createFrom().item(false))
                            .chain(announced -> writeReports(
                                            connection,
                                            node.id(),
                                            request.attempts(),
                                            contact.get().before())
                                    .map(reported -> new ContactResult(
                                            node.id(),
                                            node.revision(),
                                            announced || reported,
                                            leaseStatus,
                                            machine.digest())));
                });
    }

    /** The part of an inventory that is stored with the contact. */
    private record Machine(
            String isolation,
            @Nullable Long cpuMilli,
            @Nullable Long memoryMiB,
            @Nullable String pausing,
            String digest) {}

    /** The machine that the request describes or names; empty if it names none that is stored. */
    private static Uni<Optional<Machine>> machineOf(SqlConnection connection, UUID node, SyncRequest request) {
        Inventory inventory = request.inventory();
        if (inventory != null) {
            return Uni.createFrom()
                    .item(Optional.of(new Machine(
                            ReportRows.word(inventory.isolation()),
                            (long) inventory.cpuMilli(),
                            inventory.memoryMiB(),
                            pausing(inventory),
                            InventoryDigest.of(inventory))));
        }
        return connection
                .preparedQuery("select isolation, cpu_milli, memory_mib, pausing, inventory_digest from node_contact"
                        + " where node_id = $1 and inventory_digest = $2")
                .execute(Tuple.of(node, request.inventoryDigest()))
                .map(rows -> first(rows)
                        .map(row -> new Machine(
                                row.getString("isolation"),
                                row.getLong("cpu_milli"),
                                row.getLong("memory_mib"),
                                row.getString("pausing"),
                                row.getString("inventory_digest"))));
    }

    /**
     * Refuses a node that does not suit its pool, at its first contact only. A known node stays in its pool, and the
     * leader allows for its isolation.
     */
    private Uni<Void> requireFit(SqlConnection connection, UUID node, @Nullable Inventory inventory) {
        if (inventory == null) {
            return Uni.createFrom().voidItem(); // It is stored, so this is not the first contact.
        }
        return switch (inventory.isolation()) {
            case CONTAINER -> Uni.createFrom().voidItem();
            case OS_USER, NONE ->
                connection
                        .preparedQuery("select 1 from node_contact where node_id = $1")
                        .execute(Tuple.of(node))
                        .chain(heard -> heard.size() > 0
                                ? Uni.createFrom().voidItem()
                                : nodeIsolationRule.checkAgent(connection, node));
        };
    }

    /**
     * The status of an agent whose request changed nothing: the request is outdated, or comes from another agent,
     * which is recorded.
     */
    private static Uni<LeaseStatus> readLeaseStatus(SqlConnection connection, UUID node, SyncRequest request) {
        return connection
                .preparedQuery(
                        "update node_contact c set other_agent_seen_at = clock_timestamp() where node_id = $1 and "
                                + ANOTHERS.formatted("$2", "$3"))
                .execute(Tuple.of(node, request.stateId(), request.bootId()))
                .chain(recorded -> recorded.rowCount() > 0
                        ? Uni.createFrom().item(LeaseStatus.OF_ANOTHER_AGENT)
                        : connection
                                .preparedQuery(
                                        "select lease_until > clock_timestamp() as leased from node_contact where "
                                                + "node_id = $1")
                                .execute(Tuple.of(node))
                                .map(rows -> first(rows)
                                        .filter(row -> row.getBoolean("leased"))
                                        .map(row -> LeaseStatus.LEASED)
                                        .orElse(LeaseStatus.LAPSED)));
    }

    /**
     * Whether the lease of contact c is valid and belongs to an agent other than the one with this state folder in this
     * boot. For agents that do not report their folder, the boot alone decides. This also holds for a lost node: the
     * first agent that reports again has its lease, even before the leader has taken the node back.
     */
    private static final String ANOTHERS =
            "(c.lease_until > clock_timestamp()" + " and (c.boot_id <> %2$s or coalesce(c.state_id <> %1$s, false)))";

    /**
     * @param news whether the leader must learn that the node is present (again), or that its machine is another
     * @param before the time of the previous contact; null at the first
     */
    private record Contact(
            boolean leased, boolean news, @Nullable OffsetDateTime before) {}

    /** Records the contact; empty if the request is outdated, or from an agent that may not speak for the node. */
    private static Uni<Optional<Contact>> writeContact(
            SqlConnection connection, UUID node, SyncRequest request, Machine machine, Duration lease) {
        return connection
                .preparedQuery("""
                        with before as (select lost_at, cpu_milli, memory_mib, pausing, isolation
                            from node_contact where node_id = $1)
                        insert into node_contact as c (node_id, agent_version, boot_id, instance_id, sequence,
                            isolation, cpu_milli, memory_mib,
                               pausing, state_id, inventory_digest, last_heard, lease_until)
                        values ($1, $2, $3, $4, $5, $6, $8, $9, $10, $11, $12, clock_timestamp(),
                            clock_timestamp() + $7::bigint * interval '1 millisecond')
                        on conflict (node_id) do update set agent_version = excluded.agent_version,
                            boot_id = excluded.boot_id,
                               instance_id = excluded.instance_id, sequence = excluded.sequence,
                                   isolation = excluded.isolation,
                               cpu_milli = excluded.cpu_milli, memory_mib = excluded.memory_mib,
                                   pausing = excluded.pausing,
                               state_id = excluded.state_id, inventory_digest = excluded.inventory_digest,
                               last_heard = case when c.lost_at is null and c.lease_until < clock_timestamp()
                                   then c.last_heard
                                                 else excluded.last_heard end,
                               -- An expired lease stays expired until the leader has given the node up:
                               -- the attempts of that lease have ended.
                               lease_until = case when c.lost_at is null and c.lease_until < clock_timestamp()
                                   then c.lease_until
                                                  else excluded.lease_until end
                         where (c.instance_id <> excluded.instance_id or c.sequence < excluded.sequence) and not %s
                        returning c.lease_until > clock_timestamp() as leased, old.last_heard as heard_before,
                            (select lost_at is not null from before) as lost, not exists (select 1 from before)
                            as fresh,
                                  (select (b.cpu_milli, b.memory_mib, b.pausing, b.isolation)
                                          is distinct from (c.cpu_milli, c.memory_mib, c.pausing, c.isolation)
                                              from before b) as other
                        """.formatted(ANOTHERS.formatted("excluded.state_id", "excluded.boot_id")))
                .execute(Tuple.from(new Object[] {
                    node,
                    request.agentVersion(),
                    request.bootId(),
                    request.instanceId().toString(),
                    request.sequence(),
                    machine.isolation(),
                    lease.toMillis(),
                    machine.cpuMilli(),
                    machine.memoryMiB(),
                    machine.pausing(),
                    request.stateId(),
                    machine.digest()
                }))
                .map(rows -> first(rows)
                        .map(row -> new Contact(
                                row.getBoolean("leased"),
                                Boolean.TRUE.equals(row.getBoolean("fresh"))
                                        || Boolean.TRUE.equals(row.getBoolean("lost"))
                                        || Boolean.TRUE.equals(row.getBoolean("other")),
                                row.getOffsetDateTime("heard_before"))));
    }

    private static @Nullable String pausing(Inventory inventory) {
        Inventory.Pausing pausing = inventory.pausing();
        return pausing == null ? null : ReportRows.word(pausing.by());
    }

    private static Uni<Boolean> writeInventory(SqlConnection connection, UUID node, Inventory inventory) {
        JsonArray devices = new JsonArray();
        inventory
                .devices()
                .forEach(device -> devices.add(new JsonObject()
                        .put("device_index", device.index())
                        .put("uuid", device.uuid())
                        .put("model", device.model())
                        .put("memory_mib", Math.max(1, device.memoryMiB()))
                        .put("mig", device.migEnabled())
                        .put("healthy", device.healthy())));
        return connection
                .preparedQuery("""
                        with x as (select * from jsonb_to_recordset($2) as x(device_index int, uuid text, model text,
                            memory_mib bigint, mig boolean,
                                          healthy boolean)),
                        gone as (update gpu g set healthy = false
                                  where g.node_id = $1 and g.healthy and g.device_index not in (select device_index from x) returning 1),
                        now as (insert into gpu as g (node_id, device_index, uuid, model, memory_mib, mig, healthy)
                                select $1, device_index, uuid, model, memory_mib, mig, healthy from x
                                on conflict (node_id, device_index) do update set uuid = excluded.uuid,
                                    model = excluded.model,
                                       memory_mib = excluded.memory_mib, mig = excluded.mig, healthy = excluded.healthy
                                 where (g.uuid, g.model, g.memory_mib, g.mig, g.healthy)
                                       is distinct from (excluded.uuid, excluded.model, excluded.memory_mib,
                                           excluded.mig, excluded.healthy)
                                returning 1)
                        select (select count(*) from gone) + (select count(*) from now) as changed
                        """)
                .execute(Tuple.of(node, devices))
                .map(rows -> rows.iterator().next().getLong("changed") > 0);
    }

    private static Uni<Void> postNode(SqlConnection connection, UUID node) {
        return connection
                .preparedQuery("insert into inbox (kind, ref) values ('node', $1)")
                .execute(Tuple.of(node.toString()))
                .replaceWithVoid();
    }

    private static Uni<Boolean> writeReports(
            SqlConnection connection, UUID node, List<AttemptReport> attempts, @Nullable OffsetDateTime before) {
        if (attempts.isEmpty()) {
            return Uni.createFrom().item(false);
        }
        return connection
                .preparedQuery(REPORTS)
                .execute(Tuple.of(node, before, ReportRows.json(new JsonArray(), node.toString(), attempts)))
                .map(rows -> rows.iterator().next().getLong("announced") > 0);
    }

    private static Optional<Row> first(RowSet<Row> rows) {
        return rows.size() == 0 ? Optional.empty() : Optional.of(rows.iterator().next());
    }
}
