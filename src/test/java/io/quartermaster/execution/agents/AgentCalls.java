package io.quartermaster.execution.agents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quartermaster.access.Credential;
import io.quartermaster.access.NodeSessionIssuer;
import io.quartermaster.agent.protocol.AttemptReport;
import io.quartermaster.agent.protocol.Inventory;
import io.quartermaster.agent.protocol.Protocol;
import io.quartermaster.agent.protocol.SyncReply;
import io.quartermaster.agent.protocol.SyncRequest;
import io.quartermaster.platform.Ids;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.http.ProblemException;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.Row;
import jakarta.inject.Inject;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;

/** Base of tests that call the service as the agent of a node, on which one attempt is bound. */
abstract class AgentCalls {

    static final Duration TIMEOUT = Duration.ofSeconds(10);

    @Inject
    SystemDatabase database;

    @Inject
    AgentService service;

    @Inject
    NodeSessionIssuer sessions;

    long sequence;
    long applied;
    Duration wait = Duration.ZERO;
    /** Sent in place of the inventory. */
    @Nullable
    String digest;

    int processors = 1;
    UUID state = new UUID(2, 1);
    UUID instance = new UUID(1, 1);
    String boot = "boot";
    Inventory.Isolation isolation = Inventory.Isolation.CONTAINER;

    /** Leaders of other tests read all rows. */
    @AfterEach
    void leaveNothingLive() {
        run("""
                update attempt set state = 'ended', outcome = 'cancelled', ended_at = clock_timestamp()
                 where tenant_id like 'lease-%' and state <> 'ended'
                """);
        run("update allocation_device set freed_at = clock_timestamp() where tenant_id like 'lease-%' and "
                + "freed_at is null");
        run("update workload set state = 'cancelled' where tenant_id like 'lease-%'");
    }

    /** Gives the node up, as the leader does when its lease has expired. */
    void lose(Bound bound) {
        run(
                "update node_contact set lost_at = clock_timestamp(), lease_until = clock_timestamp() - interval "
                        + "'1 second' where node_id = $1",
                bound.node());
    }

    void assertRefused(Bound bound, String code) {
        assertThatThrownBy(() -> sync(bound)).isInstanceOfSatisfying(ProblemException.class, e -> assertThat(
                        e.problem().code())
                .isEqualTo(code));
    }

    String opened(Bound bound) {
        return open(bound, Instant.now().plusSeconds(60)).token();
    }

    NodeSessionIssuer.NewSession open(Bound bound, Instant issuedAt) {
        return sessions.open(bound.nodeName(), new Credential.KeycloakToken(issuedAt))
                .await()
                .atMost(TIMEOUT);
    }

    List<Row> nodeNews(Bound bound) {
        return run(
                "select 1 from inbox where kind = 'node' and ref = $1",
                bound.node().toString());
    }

    record Bound(String tenant, UUID node, String nodeName, UUID attempt) {}

    /** A node with one attempt bound to it, as the leader would write it. */
    Bound bind(String name) {
        return bind(name, Duration.ZERO);
    }

    /** @param ago how long ago it was bound */
    Bound bind(String name, Duration ago) {
        UUID pool = Ids.next();
        UUID cluster = Ids.next();
        UUID node = Ids.next();
        UUID policy = Ids.next();
        UUID profile = Ids.next();
        UUID queue = Ids.next();
        UUID workload = Ids.next();
        UUID attempt = Ids.next();
        run(
                "insert into tenant (id, display_name, plan, realm, issuer, state) values ($1, $1, 'standard', "
                        + "$1, 'test:' || $1, 'active')",
                name);
        run("insert into pool (id, name) values ($1, $2)", pool, name);
        run("insert into cluster (id, name, kind, region) values ($1, $2, 'agent', 'here')", cluster, name);
        run("insert into node (id, name, cluster_id, pool_id) values ($1, $2, $3, $4)", node, name, cluster, pool);
        run("insert into policy (tenant_id, id, name, group_path) values ($1, $2, 'all', '/all')", name, policy);
        run(
                "insert into profile (tenant_id, id, name, gpu_milli, pool_ids) values ($1, $2, 'one', 1000, $3)",
                name,
                profile,
                new UUID[] {pool});
        run(
                "insert into queue (tenant_id, id, name, policy_id, profile_id) values ($1, $2, 'all-one', $3, $4)",
                name,
                queue,
                policy,
                profile);
        run("""
                insert into workload (tenant_id, id, name, type, queue_id, policy_id, profile_id, submitted_by,
                    priority, preemptible, command, state, attempts)
                values ($1, $2, 'w', 'training', $3, $4, $5, 'somebody', 50, true, '["true"]', 'starting', 1)
                """, name, workload, queue, policy, profile);
        run("""
                insert into attempt (tenant_id, id, workload_id, number, state, pool_id, gpu_milli, rule, bound_at)
                values ($1, $2, $3, 1, 'bound', $4, 1000, 'open',
                    clock_timestamp() - $5::bigint * interval '1 millisecond')
                """, name, attempt, workload, pool, ago.toMillis());
        run(
                "insert into allocation_device (tenant_id, attempt_id, worker, node_id, device_index, gpu_milli) "
                        + "values ($1, $2, 0, $3, 0, 1000)",
                name,
                attempt,
                node);
        return new Bound(name, node, name, attempt);
    }

    SyncReply sync(Bound bound, AttemptReport... attempts) {
        return call(bound, attempts).await().atMost(TIMEOUT);
    }

    Uni<SyncReply> call(Bound bound, AttemptReport... attempts) {
        Inventory inventory = new Inventory(
                List.of(new Inventory.Device(0, bound.nodeName() + "-gpu", "H100", 81920, true, false)),
                processors * 1_000,
                1024,
                isolation,
                false,
                true,
                null);
        SyncRequest request = new SyncRequest(
                Protocol.FORMAT_VERSION,
                "1",
                boot,
                instance,
                state,
                ++sequence,
                applied,
                wait.toMillis(),
                digest == null ? inventory : null,
                digest,
                List.of(attempts));
        return service.sync(bound.nodeName(), request);
    }

    Row contact(Bound bound) {
        return run("select lease_until, last_heard from node_contact where node_id = $1", bound.node())
                .getFirst();
    }

    List<Row> run(String sql, Object... parameters) {
        return database.run(TIMEOUT, tx -> {
            List<Row> rows = new ArrayList<>();
            tx.run(sql, parameters).forEach(rows::add);
            return rows;
        });
    }
}
