package io.quartermaster.governance;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.vertx.RunOnVertxContext;
import io.quarkus.test.vertx.UniAsserter;
import io.quartermaster.access.GroupPath;
import io.quartermaster.capacity.grants.QuotaTerms;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QueueOrder;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.governance.rules.Policy;
import io.quartermaster.governance.rules.PolicyQuota;
import io.quartermaster.governance.rules.PreemptionAction;
import io.quartermaster.governance.rules.Profile;
import io.quartermaster.governance.rules.Queue;
import io.quartermaster.governance.rules.QueueState;
import io.quartermaster.governance.rules.TenantRules;
import io.quartermaster.platform.Ids;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.db.TenantTransactions;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.inject.Inject;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Rules written and read back through row-level security, beside a second tenant. */
@QuarkusTest
class RulesStoreIT {

    @Inject
    SystemDatabase database;

    @Inject
    TenantTransactions transactions;

    @Inject
    RulesStore store;

    private final UUID pool = Ids.next();

    @Test
    @RunOnVertxContext
    void rulesComeBackAsTheyWereWrittenAndStayWithTheirTenant(UniAsserter asserter) {
        TenantId mine = new TenantId("rules-" + Ids.next().toString().substring(26));
        TenantId other = new TenantId("other-" + Ids.next().toString().substring(26));
        Profile profile = profile("3xgpu");
        Policy policy = policy("rnd", "/rnd", 5000);
        Queue queue = Queue.of(
                "rnd-3xgpu", policy, profile, new Queue.Terms(true, 100, QueueState.HELD, QueueOrder.STRICT_FIFO));
        AtomicReference<TenantRules> written = new AtomicReference<>();

        asserter.execute(() -> tenant(mine).chain(() -> tenant(other)));
        asserter.execute(
                () -> transactions.in(mine, session -> store.lock(session, mine).chain(before -> {
                    TenantRules after = before.with(profile).with(policy).with(queue);
                    written.set(after);
                    return store.save(session, before, after);
                })));
        asserter.assertThat(() -> transactions.in(mine, session -> store.read(session, mine)), read -> {
            assertThat(read).isEqualTo(written.get());
            assertThat(read.allotments()).singleElement().satisfies(one -> assertThat(one.poolName())
                    .startsWith("pool-"));
        });
        asserter.assertThat(() -> transactions.in(other, session -> store.read(session, other)), read -> {
            assertThat(read.policies()).isEmpty();
            assertThat(read.profiles()).isEmpty();
            assertThat(read.queues()).isEmpty();
        });
    }

    @Test
    @RunOnVertxContext
    void whatIsTakenOutIsRetiredAndItsNameIsFreeAgain(UniAsserter asserter) {
        TenantId mine = new TenantId("rules-" + Ids.next().toString().substring(26));
        Profile profile = profile("3xgpu");
        Policy policy = policy("rnd", "/rnd", 5000);
        Queue queue = Queue.of(
                "rnd-3xgpu", policy, profile, new Queue.Terms(true, 100, QueueState.HELD, QueueOrder.STRICT_FIFO));
        Policy again = policy("rnd", "/rnd", 7000);

        asserter.execute(() -> tenant(mine));
        asserter.execute(() -> transactions.in(mine, session -> store.lock(session, mine)
                .chain(before -> store.save(
                        session, before, before.with(profile).with(policy).with(queue)))));
        asserter.execute(() -> transactions.in(mine, session -> store.lock(session, mine)
                .chain(before -> store.save(
                        session,
                        before,
                        before.without(before.policy("rnd").orElseThrow()).with(again)))));
        asserter.assertThat(() -> transactions.in(mine, session -> store.read(session, mine)), read -> {
            assertThat(read.policies()).containsExactly(again);
            assertThat(read.queues()).isEmpty();
            assertThat(read.profiles()).containsExactly(profile);
        });
        asserter.assertEquals(
                () -> database.on(connection -> connection
                        .preparedQuery("select count(*) from policy where tenant_id = $1")
                        .execute(Tuple.of(mine.value()))
                        .map(rows -> rows.iterator().next().getLong(0))),
                2L);
    }

    @Test
    @RunOnVertxContext
    void aChangedPolicyKeepsItsIdAndReplacesItsQuotas(UniAsserter asserter) {
        TenantId mine = new TenantId("rules-" + Ids.next().toString().substring(26));
        Policy policy = policy("rnd", "/rnd", 5000);
        Policy changed = new Policy(
                policy.id(),
                "rnd",
                policy.group(),
                List.of(new PolicyQuota(Scope.ALL_POOLS, QuotaTerms.reserving(3000))),
                false,
                PreemptionAction.END,
                0,
                OptionalLong.of(1000),
                1);

        asserter.execute(() -> tenant(mine));
        asserter.execute(() -> transactions.in(mine, session -> store.lock(session, mine)
                .chain(before -> store.save(session, before, before.with(policy)))));
        asserter.execute(() -> transactions.in(mine, session -> store.lock(session, mine)
                .chain(before -> store.save(session, before, before.with(changed)))));
        asserter.assertThat(
                () -> transactions.in(mine, session -> store.read(session, mine)),
                read -> assertThat(read.policies()).containsExactly(changed));
    }

    private Uni<Void> tenant(TenantId tenant) {
        return database.in(connection -> connection
                .preparedQuery("insert into tenant (id, display_name, plan, realm, issuer, state) values ($1::text, "
                        + "$1::text, 'test', $1::text, 'test:' || $1::text, 'active')")
                .execute(Tuple.of(tenant.value()))
                .chain(() -> connection
                        .preparedQuery("insert into pool (id, name) values ($1::uuid, 'pool-' || $1::uuid) on conflict "
                                + "do nothing")
                        .execute(Tuple.of(pool)))
                .chain(() -> connection
                        .preparedQuery("insert into allotment (tenant_id, pool_id, reserved_milli, weight) values ($1, "
                                + "$2, 10000, 2)")
                        .execute(Tuple.of(tenant.value(), pool)))
                .replaceWithVoid());
    }

    private Profile profile(String name) {
        return new Profile(
                Ids.next(),
                name,
                new GpuRequest.Memory(2, 20_480),
                OptionalInt.empty(),
                OptionalInt.empty(),
                2,
                1,
                4000,
                1024,
                new TreeMap<>(Map.of("zone", "z1")),
                new Profile.Topology(Optional.of("rack"), Optional.empty(), Optional.empty()),
                List.of(new PoolId(pool.toString())),
                true,
                OptionalLong.of(60_000),
                0);
    }

    private Policy policy(String name, String group, long reserved) {
        return new Policy(
                Ids.next(),
                name,
                new GroupPath(group),
                List.of(
                        new PolicyQuota(Scope.ALL_POOLS, QuotaTerms.reserving(reserved)),
                        new PolicyQuota(
                                Scope.of(new PoolId(pool.toString())),
                                new QuotaTerms(
                                                reserved,
                                                OptionalLong.of(9000),
                                                OptionalInt.of(3),
                                                OptionalLong.of(0),
                                                -1)
                                        .withFence(true))),
                true,
                PreemptionAction.REQUEUE,
                30_000,
                OptionalLong.empty(),
                0);
    }
}
