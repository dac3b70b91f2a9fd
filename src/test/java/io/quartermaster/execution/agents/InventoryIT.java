package io.quartermaster.execution.agents;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.quartermaster.agent.protocol.Inventory;
import io.quartermaster.agent.protocol.Protocol;
import io.quartermaster.agent.protocol.SyncReply;
import io.quartermaster.testing.WithoutLeader;
import io.vertx.mutiny.sqlclient.Row;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** The inventory that an agent reports: stored, replaced by a digest, or refused. */
@QuarkusTest
@TestProfile(WithoutLeader.class)
class InventoryIT extends AgentCalls {

    @Test
    void whatTheAgentSeesOfTheMachineIsKeptAndNewsOfItReachTheLeader() {
        Bound bound = bind("lease-machine");
        sync(bound);
        run("delete from inbox where kind = 'node' and ref = $1", bound.node().toString());

        sync(bound);
        assertThat(nodeNews(bound)).isEmpty();

        processors = 2;
        sync(bound);
        assertThat(nodeNews(bound)).isNotEmpty();
        assertThat(run("select cpu_milli, memory_mib from node_contact where node_id = $1", bound.node()))
                .singleElement()
                .satisfies(row -> {
                    assertThat(row.getLong("cpu_milli")).isEqualTo(2_000);
                    assertThat(row.getLong("memory_mib")).isEqualTo(1_024);
                });
    }

    @Test
    void aDigestStandsForTheStoredInventory() {
        Bound bound = bind("lease-digest");
        String known = sync(bound).inventoryDigest();
        run("delete from inbox where kind = 'node' and ref = $1", bound.node().toString());
        Row before = contact(bound);

        digest = known;
        SyncReply reply = sync(bound);

        assertThat(reply.inventoryDigest()).isEqualTo(known).isNotNull();
        assertThat(reply.attempts()).hasSize(1);
        assertThat(contact(bound).getOffsetDateTime("lease_until")).isAfter(before.getOffsetDateTime("lease_until"));
        assertThat(contact(bound).getOffsetDateTime("last_heard")).isAfter(before.getOffsetDateTime("last_heard"));
        assertThat(nodeNews(bound)).isEmpty();
        assertThat(run("select 1 from gpu where node_id = $1 and healthy", bound.node()))
                .hasSize(1);
    }

    @Test
    void anotherInventoryHasAnotherDigest() {
        Bound bound = bind("lease-digests");
        String first = sync(bound).inventoryDigest();
        assertThat(sync(bound).inventoryDigest()).isEqualTo(first);

        processors = 2;

        assertThat(sync(bound).inventoryDigest()).isNotEqualTo(first);
    }

    @Test
    void aDigestOfNoStoredInventoryIsRefusedAndRenewsNothing() {
        Bound fresh = bind("lease-digest-new");
        digest = "unknown";
        assertRefused(fresh, Protocol.INVENTORY_UNKNOWN);
        assertThat(run("select 1 from node_contact where node_id = $1", fresh.node()))
                .isEmpty();

        digest = null;
        Bound known = bind("lease-digest-old");
        sync(known);
        Row before = contact(known);
        digest = "unknown";
        assertRefused(known, Protocol.INVENTORY_UNKNOWN);
        assertThat(contact(known).getOffsetDateTime("lease_until")).isEqualTo(before.getOffsetDateTime("lease_until"));
    }

    @Test
    void aDigestHelpsNeitherALapsedLeaseNorAnotherAgentNorALateRequest() {
        Bound bound = bind("lease-digest-lapsed");
        digest = sync(bound).inventoryDigest();

        state = new UUID(2, 2);
        instance = new UUID(1, 2);
        assertRefused(bound, "another-agent");
        state = new UUID(2, 1);
        instance = new UUID(1, 1);
        sync(bound);
        Row before = contact(bound);
        sequence--;
        assertThat(sync(bound).inventoryDigest())
                .as("of a request that changed nothing")
                .isNull();
        assertThat(contact(bound).getOffsetDateTime("last_heard")).isEqualTo(before.getOffsetDateTime("last_heard"));

        run(
                "update node_contact set lease_until = clock_timestamp() - interval '1 second' where node_id = $1",
                bound.node());
        assertRefused(bound, "lease-lapsed");
    }

    @Test
    void aLostNodeThatSendsItsDigestIsHeardAgain() {
        Bound bound = bind("lease-digest-lost");
        digest = sync(bound).inventoryDigest();
        run("delete from inbox where kind = 'node' and ref = $1", bound.node().toString());
        lose(bound);

        assertThat(sync(bound).leaseMillis()).isPositive();
        assertThat(nodeNews(bound)).isNotEmpty();
    }

    @Test
    void aNewNodeThatDoesNotKeepTenantsApartIsRefusedInAPoolOfSeveral() {
        Bound bound = bind("lease-shared");
        isolation = Inventory.Isolation.OS_USER;
        share(bound);

        assertRefused(bound, "not-isolated");
        assertThat(run("select 1 from node_contact where node_id = $1", bound.node()))
                .isEmpty();

        run(
                "update pool set tenants_trust_each_other = true where id = (select pool_id from node where id = $1)",
                bound.node());
        assertThat(sync(bound).attempts()).hasSize(1);
    }

    @Test
    void aNodeThatIsKnownKeepsWhatRunsWhenItsPoolIsShared() {
        Bound bound = bind("lease-known");
        isolation = Inventory.Isolation.OS_USER;
        sync(bound);

        share(bound);

        assertThat(sync(bound).attempts()).hasSize(1);
    }

    /** Gives two tenants allotments in the node's pool. */
    private void share(Bound bound) {
        String other = bound.tenant() + "-b";
        run(
                "insert into tenant (id, display_name, plan, realm, issuer, state) values ($1, $1, 'standard', "
                        + "$1, 'test:' || $1, 'active')",
                other);
        run(
                "insert into allotment (tenant_id, pool_id) select t, pool_id from node, unnest($2::text[]) as t "
                        + "where node.id = $1",
                bound.node(),
                new String[] {bound.tenant(), other});
    }
}
