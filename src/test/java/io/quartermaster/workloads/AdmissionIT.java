package io.quartermaster.workloads;

import io.quartermaster.workloads.counters.Counted;
import io.quartermaster.workloads.counters.Counters;
import io.quartermaster.workloads.counters.Tally;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.platform.Ids;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.redis.RedisScripts;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.TenantTransactions;
import io.quartermaster.platform.inbox.Wakeups;
import io.smallrye.mutiny.Uni;
import io.vertx.core.impl.VertxInternal;
import io.vertx.mutiny.core.Vertx;
import io.vertx.mutiny.redis.client.Redis;
import io.vertx.mutiny.redis.client.RedisAPI;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.eclipse.microprofile.config.ConfigProvider;
import org.junit.jupiter.api.Test;

/** The scripts of admission and of the live counters, on a real Redis. */
@QuarkusTest
class AdmissionIT {

    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final UUID POOL = Ids.next();
    private static final UUID POLICY = Ids.next();

    @Inject
    RedisAPI redis;

    @Inject
    io.vertx.core.Vertx vertx;

    @Inject
    TenantTransactions transactions;

    private final UUID queue = Ids.next();
    private final Tally tally = new Tally();

    private RedisScripts scripts() {
        return RedisScripts.on(redis, vertx);
    }

    private Counters counters() {
        return new Counters(scripts(), "qm:{test}:" + Ids.next());
    }

    private Admission admission() {
        return new Admission(scripts(), 1_000, 5_000, Duration.ofSeconds(30));
    }

    private static Admission.Verdict decide(Admission admission, TenantId tenant, Admission.Ask... asks) {
        return admission.decide(tenant, List.of(asks)).await().atMost(PATIENCE);
    }

    private Admission.Ask ask(int most, UUID... workloads) {
        return new Admission.Ask(queue, "q", most, List.of(workloads));
    }

    private void queued(TenantId tenant, UUID... workloads) {
        for (UUID id : workloads) {
            tally.workload(
                    new Counted(tenant, id, queue, POLICY, List.of(POOL), List.of(1_000L), new Counted.Place.Queued()));
        }
    }

    private String counter(TenantId tenant, String field) {
        var value = redis.hget(Counters.key(tenant), field).await().atMost(PATIENCE);
        return value == null ? "" : value.toString();
    }

    private static String code(Admission.Verdict verdict) {
        return switch (verdict) {
            case Admission.Verdict.Refused refused ->
                refused.problem().problem().code();
            case Admission.Verdict.Admitted admitted -> "admitted";
            case Admission.Verdict.Unknown unknown -> "unknown";
        };
    }

    @Test
    void aTenantWithoutPublishedCountersIsLeftToTheDatabase() {
        assertThat(code(decide(admission(), new TenantId("adm-unknown"), ask(10, Ids.next()))))
                .isEqualTo("unknown");
    }

    @Test
    void theCapCountsWhatIsHeldAndWhatIsPublishedEachOnce() {
        TenantId tenant = new TenantId("adm-cap");
        Counters counters = counters();
        tally.tenant(tenant, true, Map.of());
        counters.publish(1, 1_000, tally);
        UUID first = Ids.next();
        UUID second = Ids.next();
        assertThat(code(decide(admission(), tenant, ask(3, first, second)))).isEqualTo("admitted");
        assertThat(code(decide(admission(), tenant, ask(3, Ids.next(), Ids.next()))))
                .isEqualTo("queue-full");

        queued(tenant, first, second);
        counters.publish(1, 2_000, tally);
        assertThat(counter(tenant, "queued:" + queue)).isEqualTo("2");
        assertThat(redis.zcard(Counters.holds(tenant, queue))
                        .await()
                        .atMost(PATIENCE)
                        .toInteger())
                .isZero();
        UUID third = Ids.next();
        assertThat(code(decide(admission(), tenant, ask(3, third)))).isEqualTo("admitted");
        assertThat(code(decide(admission(), tenant, ask(3, Ids.next())))).isEqualTo("queue-full");

        admission().release(tenant, List.of(ask(3, third))).await().atMost(PATIENCE);
        assertThat(code(decide(admission(), tenant, ask(3, Ids.next())))).isEqualTo("admitted");
    }

    @Test
    void aRefusalHoldsNothingInAnyQueue() {
        TenantId tenant = new TenantId("adm-none");
        tally.tenant(tenant, true, Map.of());
        counters().publish(1, 1_000, tally);
        Admission.Ask full = new Admission.Ask(Ids.next(), "full", 0, List.of(Ids.next()));
        assertThat(code(decide(admission(), tenant, ask(3, Ids.next()), full))).isEqualTo("queue-full");
        assertThat(redis.zcard(Counters.holds(tenant, queue))
                        .await()
                        .atMost(PATIENCE)
                        .toInteger())
                .isZero();
    }

    @Test
    void whatDidNotComeInDoesNotCountForTheRate() {
        TenantId tenant = new TenantId("adm-given-back");
        tally.tenant(tenant, true, Map.of());
        counters().publish(1, 1_000, tally);
        Admission slow = new Admission(scripts(), 1, WorkloadApi.MAX_BATCH, Duration.ofSeconds(30));
        Admission.Ask failed = ask(5_000, ids(400));
        assertThat(code(decide(slow, tenant, failed))).isEqualTo("admitted");
        assertThat(code(decide(slow, tenant, ask(5_000, ids(400))))).isEqualTo("admitted");
        assertThat(code(decide(slow, tenant, ask(5_000, ids(500))))).isEqualTo("rate-exceeded");

        slow.release(tenant, List.of(failed)).await().atMost(PATIENCE);
        slow.release(tenant, List.of(failed)).await().atMost(PATIENCE);

        assertThat(code(decide(slow, tenant, ask(5_000, ids(900)))))
                .as("given back once")
                .isEqualTo("rate-exceeded");
        assertThat(code(decide(slow, tenant, ask(5_000, ids(500))))).isEqualTo("admitted");
    }

    private static UUID[] ids(int count) {
        return Stream.generate(Ids::next).limit(count).toArray(UUID[]::new);
    }

    @Test
    void aSuspendedTenantIsRefused() {
        TenantId tenant = new TenantId("adm-suspended");
        tally.tenant(tenant, false, Map.of());
        queued(tenant, Ids.next());
        counters().publish(1, 1_000, tally);
        assertThat(code(decide(admission(), tenant, ask(3, Ids.next())))).isEqualTo("tenant-suspended");
    }

    @Test
    void aTenantThatIsTooFastIsRefusedAndToldWhenThereIsRoom() {
        TenantId tenant = new TenantId("adm-rate");
        tally.tenant(tenant, true, Map.of());
        counters().publish(1, 1_000, tally);
        Admission slow = new Admission(scripts(), 1, 1_000, Duration.ofSeconds(30));
        UUID[] thousand = Stream.generate(Ids::next).limit(1_000).toArray(UUID[]::new);
        assertThat(code(decide(slow, tenant, ask(10_000, thousand)))).isEqualTo("admitted");
        Admission.Verdict verdict = decide(slow, tenant, ask(10_000, Ids.next()));
        assertThat(code(verdict)).isEqualTo("rate-exceeded");
        assertThat(((Admission.Verdict.Refused) verdict).problem().problem().detail())
                .contains("room again in");
    }

    @Test
    void countersThatWereLostAreReplacedAsAWhole() {
        TenantId tenant = new TenantId("adm-lost");
        Counters counters = counters();
        tally.tenant(tenant, true, Map.of());
        queued(tenant, Ids.next(), Ids.next());
        counters.publish(1, 1_000, tally);
        redis.del(List.of(Counters.key(tenant))).await().atMost(PATIENCE);
        queued(tenant, Ids.next());
        counters.publish(1, 2_000, tally);
        assertThat(counter(tenant, "queued:" + queue)).isEqualTo("3");
        assertThat(counter(tenant, "queued-gpus:-:" + POOL)).isEqualTo("3000");
        assertThat(counter(tenant, "asOf")).isEqualTo("2000");
    }

    @Test
    void aDeposedLeaderChangesNothing() {
        TenantId tenant = new TenantId("adm-deposed");
        tally.tenant(tenant, true, Map.of());
        queued(tenant, Ids.next());
        Tally old = new Tally();
        old.tenant(tenant, true, Map.of());
        counters().publish(2, 2_000, tally);
        counters().publish(1, 3_000, old);
        assertThat(counter(tenant, "queued:" + queue)).isEqualTo("1");
        assertThat(counter(tenant, "epoch")).isEqualTo("2");
    }

    @Test
    void anotherLeaderTakesOverWithAllThereIs() {
        TenantId tenant = new TenantId("adm-takeover");
        tally.tenant(tenant, true, Map.of());
        queued(tenant, Ids.next(), Ids.next());
        counters().publish(1, 1_000, tally);
        Tally next = new Tally();
        next.tenant(tenant, true, Map.of());
        next.workload(new Counted(
                tenant,
                Ids.next(),
                queue,
                POLICY,
                List.of(POOL),
                List.of(1_000L),
                new Counted.Place.Holding(POOL, 1_000)));
        counters().publish(2, 2_000, next);
        assertThat(counter(tenant, "queued:" + queue)).isEmpty();
        assertThat(counter(tenant, "used:-:" + POOL)).isEqualTo("1000");
    }

    @Test
    void scriptsThatRedisForgotAreSentAgain() {
        TenantId tenant = new TenantId("adm-noscript");
        tally.tenant(tenant, true, Map.of());
        counters().publish(1, 1_000, tally);
        redis.script(List.of("FLUSH")).await().atMost(PATIENCE);
        assertThat(code(decide(admission(), tenant, ask(3, Ids.next())))).isEqualTo("admitted");
    }

    /** A client of the same Redis with event loops of its own. */
    private record OwnClient(Vertx vertx, Redis client) implements AutoCloseable {

        static OwnClient open() {
            Vertx vertx = Vertx.vertx();
            String address = ConfigProvider.getConfig().getValue("quarkus.redis.hosts", String.class);
            return new OwnClient(vertx, Redis.createClient(vertx, address));
        }

        Admission admission() {
            RedisScripts scripts = RedisScripts.on(RedisAPI.api(client), vertx.getDelegate());
            return new Admission(scripts, 1_000, 5_000, Duration.ofSeconds(30));
        }

        /** Keeps every event loop from working, until told. */
        void occupyLoops(CountDownLatch until) {
            ((VertxInternal) vertx.getDelegate())
                    .getEventLoopGroup()
                    .forEach(loop -> loop.execute(() -> awaitQuietly(until)));
        }

        private static void awaitQuietly(CountDownLatch until) {
            try {
                until.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public void close() {
            client.close();
            vertx.closeAndAwait();
        }
    }

    @Test
    void anAnswerThatTheServiceIsTooBusyToReadIsNotRedissFault() throws Exception {
        TenantId tenant = new TenantId("adm-busy");
        tally.tenant(tenant, true, Map.of());
        counters().publish(1, 1_000, tally);
        try (OwnClient own = OwnClient.open()) {
            Admission admission = own.admission();
            assertThat(code(decide(admission, tenant, ask(10, Ids.next())))).isEqualTo("admitted");
            CountDownLatch free = new CountDownLatch(1);
            own.occupyLoops(free);
            CompletableFuture<Admission.Verdict> verdict = admission
                    .decide(tenant, List.of(ask(10, Ids.next())))
                    .subscribeAsCompletionStage()
                    .toCompletableFuture();
            CompletableFuture.delayedExecutor(1_300, TimeUnit.MILLISECONDS).execute(free::countDown);

            assertThat(code(verdict.get(10, TimeUnit.SECONDS))).isEqualTo("admitted");
            assertThat(code(decide(admission, tenant, ask(10, Ids.next())))).isEqualTo("admitted");
        }
    }

    @Test
    void aRedisThatStandsStillIsLeftAloneAfterOneCall() {
        TenantId tenant = new TenantId("adm-still");
        tally.tenant(tenant, true, Map.of());
        counters().publish(1, 1_000, tally);
        try (OwnClient own = OwnClient.open()) {
            Admission admission = own.admission();
            assertThat(code(decide(admission, tenant, ask(10, Ids.next())))).isEqualTo("admitted");
            redis.client(List.of("PAUSE", "4000", "WRITE")).await().atMost(PATIENCE);
            try {
                assertThat(code(decide(admission, tenant, ask(10, Ids.next())))).isEqualTo("unknown");
                long before = System.nanoTime();
                assertThat(code(decide(admission, tenant, ask(10, Ids.next())))).isEqualTo("unknown");
                assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofMillis(900));
            } finally {
                redis.client(List.of("UNPAUSE")).await().atMost(PATIENCE);
            }
        }
    }

    @Test
    void asManyAsComeAtOnceAreCountedSideBySideInTheDatabase() {
        TenantId tenant = new TenantId("adm-counted");
        CompletableFuture<Void> hold = new CompletableFuture<>();
        CompletableFuture<Void> counted = new CompletableFuture<>();
        CompletableFuture<Void> first = transactions
                .in(tenant, session -> admission()
                        .countInDatabase(session, tenant, List.of(ask(10, Ids.next())))
                        .invoke(() -> counted.complete(null))
                        .chain(() -> Uni.createFrom().completionStage(hold)))
                .subscribeAsCompletionStage();
        counted.orTimeout(10, TimeUnit.SECONDS).join();

        Uni<Void> second = transactions.in(tenant, session -> admission()
                .countInDatabase(
                        session,
                        tenant,
                        List.of(ask(10, Ids.next()), new Admission.Ask(Ids.next(), "other", 1, List.of(Ids.next())))));

        try {
            second.await().atMost(PATIENCE);
        } finally {
            hold.complete(null);
            first.join();
        }
        assertThat(first).isCompleted();
    }

    @Test
    void aQueueThatIsFullIsSeenByTheDatabaseToo() {
        TenantId tenant = new TenantId("adm-counted");
        Uni<Void> full = transactions.in(tenant, session -> admission()
                .countInDatabase(
                        session,
                        tenant,
                        List.of(ask(10, Ids.next()), new Admission.Ask(Ids.next(), "none", 0, List.of(Ids.next())))));

        assertThatThrownBy(() -> full.await().atMost(PATIENCE))
                .isInstanceOf(ProblemException.class)
                .hasMessageContaining("queue none takes no work");
    }

    @Test
    void aKeyOfOneTenantThatHoldsSomethingElseNeitherStopsTheOthersNorStays() {
        TenantId odd = new TenantId("adm-odd");
        TenantId spoiled = new TenantId("adm-spoiled");
        TenantId other = new TenantId("adm-other");
        for (TenantId tenant : List.of(odd, spoiled, other)) {
            tally.tenant(tenant, true, Map.of());
        }
        redis.set(List.of(Counters.key(odd), "no counters")).await().atMost(PATIENCE);
        redis.set(List.of(Counters.holds(spoiled, queue), "no holds")).await().atMost(PATIENCE);
        queued(spoiled, Ids.next());
        String marker = "qm:{test}:" + Ids.next();
        RedisScripts scripts = scripts();
        Counters counters = new Counters(scripts, marker);

        for (int i = 0; i < 3; i++) {
            counters.publish(1, 1_000, tally);
        }

        assertThat(counter(odd, "state")).isEqualTo("active");
        assertThat(counter(other, "state")).isEqualTo("active");
        assertThat(redis.get(marker).await().atMost(PATIENCE)).hasToString("1");
        Admission admission = new Admission(scripts, 1_000, 5_000, Duration.ofSeconds(30));
        assertThat(code(decide(admission, spoiled, ask(3, Ids.next())))).isEqualTo("unknown");
        assertThat(code(decide(admission, other, ask(3, Ids.next())))).isEqualTo("admitted");
    }

    @Test
    void noTenantsKeysAreTheCells() {
        assertThat(Counters.key(new TenantId("main"))).doesNotStartWith(Wakeups.CELL_KEYS);
    }

    @Test
    void aRedisThatIsAwayCostsNoTimeAfterTheFirstCall() {
        Vertx vertx = Vertx.vertx();
        Redis nowhere = Redis.createClient(vertx, "redis://127.0.0.1:1");
        try {
            RedisScripts scripts = RedisScripts.on(RedisAPI.api(nowhere), vertx.getDelegate());
            Admission admission = new Admission(scripts, 1_000, 5_000, Duration.ofSeconds(30));
            TenantId tenant = new TenantId("adm-away");
            assertThat(code(decide(admission, tenant, ask(3, Ids.next())))).isEqualTo("unknown");
            long before = System.nanoTime();
            for (int i = 0; i < 100; i++) {
                assertThat(code(decide(admission, tenant, ask(3, Ids.next())))).isEqualTo("unknown");
            }
            assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(1));
            tally.tenant(tenant, true, Map.of());
            new Counters(scripts, "qm:{test}:away").publish(1, 1_000, tally);
        } finally {
            nowhere.close();
            vertx.closeAndAwait();
        }
    }
}
