package io.quartermaster.workloads;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.platform.Ids;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.TenantTransactions;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.inbox.Wakeups;
import io.quartermaster.platform.redis.RedisScriptRunner;
import io.quartermaster.workloads.counters.CountedWorkload;
import io.quartermaster.workloads.counters.LiveCounterTotals;
import io.quartermaster.workloads.counters.LiveCounters;
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
class SubmissionAdmissionIT {

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
    private final LiveCounterTotals liveCounterTotals = new LiveCounterTotals();

    private RedisScriptRunner scripts() {
        return RedisScriptRunner.on(redis, vertx);
    }

    private LiveCounters counters() {
        return new LiveCounters(scripts(), "qm:{test}:" + Ids.next());
    }

    private SubmissionAdmission admission() {
        return new SubmissionAdmission(scripts(), 1_000, 5_000, Duration.ofSeconds(30));
    }

    private static SubmissionAdmission.Verdict decide(
            SubmissionAdmission submissionAdmission, TenantId tenant, SubmissionAdmission.RoomRequest... asks) {
        return submissionAdmission.decide(tenant, List.of(asks)).await().atMost(PATIENCE);
    }

    private SubmissionAdmission.RoomRequest ask(int max, UUID... workloads) {
        return new SubmissionAdmission.RoomRequest(queue, "q", max, List.of(workloads));
    }

    private void queued(TenantId tenant, UUID... workloads) {
        for (UUID id : workloads) {
            liveCounterTotals.setWorkload(new CountedWorkload(
                    tenant, id, queue, POLICY, List.of(POOL), List.of(1_000L), new CountedWorkload.Place.Queued()));
        }
    }

    private String counter(TenantId tenant, String field) {
        var value = redis.hget(LiveCounters.countersKey(tenant), field).await().atMost(PATIENCE);
        return value == null ? "" : value.toString();
    }

    private static String code(SubmissionAdmission.Verdict verdict) {
        return switch (verdict) {
            case SubmissionAdmission.Verdict.Refused refused ->
                refused.problem().problem().code();
            case SubmissionAdmission.Verdict.Admitted admitted -> "admitted";
            case SubmissionAdmission.Verdict.Unknown unknown -> "unknown";
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
        LiveCounters liveCounters = counters();
        liveCounterTotals.setTenant(tenant, true, Map.of());
        liveCounters.publish(1, 1_000, liveCounterTotals);
        UUID first = Ids.next();
        UUID second = Ids.next();
        assertThat(code(decide(admission(), tenant, ask(3, first, second)))).isEqualTo("admitted");
        assertThat(code(decide(admission(), tenant, ask(3, Ids.next(), Ids.next()))))
                .isEqualTo("queue-full");

        queued(tenant, first, second);
        liveCounters.publish(1, 2_000, liveCounterTotals);
        assertThat(counter(tenant, "queued:" + queue)).isEqualTo("2");
        assertThat(redis.zcard(LiveCounters.holdsKey(tenant, queue))
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
        liveCounterTotals.setTenant(tenant, true, Map.of());
        counters().publish(1, 1_000, liveCounterTotals);
        SubmissionAdmission.RoomRequest full =
                new SubmissionAdmission.RoomRequest(Ids.next(), "full", 0, List.of(Ids.next()));
        assertThat(code(decide(admission(), tenant, ask(3, Ids.next()), full))).isEqualTo("queue-full");
        assertThat(redis.zcard(LiveCounters.holdsKey(tenant, queue))
                        .await()
                        .atMost(PATIENCE)
                        .toInteger())
                .isZero();
    }

    @Test
    void whatDidNotComeInDoesNotCountForTheRate() {
        TenantId tenant = new TenantId("adm-given-back");
        liveCounterTotals.setTenant(tenant, true, Map.of());
        counters().publish(1, 1_000, liveCounterTotals);
        SubmissionAdmission slow = new SubmissionAdmission(scripts(), 1, WorkloadApi.MAX_BATCH, Duration.ofSeconds(30));
        SubmissionAdmission.RoomRequest failed = ask(5_000, ids(400));
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
        liveCounterTotals.setTenant(tenant, false, Map.of());
        queued(tenant, Ids.next());
        counters().publish(1, 1_000, liveCounterTotals);
        assertThat(code(decide(admission(), tenant, ask(3, Ids.next())))).isEqualTo("tenant-suspended");
    }

    @Test
    void aTenantThatIsTooFastIsRefusedAndToldWhenThereIsRoom() {
        TenantId tenant = new TenantId("adm-rate");
        liveCounterTotals.setTenant(tenant, true, Map.of());
        counters().publish(1, 1_000, liveCounterTotals);
        SubmissionAdmission slow = new SubmissionAdmission(scripts(), 1, 1_000, Duration.ofSeconds(30));
        UUID[] thousand = Stream.generate(Ids::next).limit(1_000).toArray(UUID[]::new);
        assertThat(code(decide(slow, tenant, ask(10_000, thousand)))).isEqualTo("admitted");
        SubmissionAdmission.Verdict verdict = decide(slow, tenant, ask(10_000, Ids.next()));
        assertThat(code(verdict)).isEqualTo("rate-exceeded");
        assertThat(((SubmissionAdmission.Verdict.Refused) verdict)
                        .problem()
                        .problem()
                        .detail())
                .contains("submit again in");
    }

    @Test
    void countersThatWereLostAreReplacedAsAWhole() {
        TenantId tenant = new TenantId("adm-lost");
        LiveCounters liveCounters = counters();
        liveCounterTotals.setTenant(tenant, true, Map.of());
        queued(tenant, Ids.next(), Ids.next());
        liveCounters.publish(1, 1_000, liveCounterTotals);
        redis.del(List.of(LiveCounters.countersKey(tenant))).await().atMost(PATIENCE);
        queued(tenant, Ids.next());
        liveCounters.publish(1, 2_000, liveCounterTotals);
        assertThat(counter(tenant, "queued:" + queue)).isEqualTo("3");
        assertThat(counter(tenant, "queued-gpus:-:" + POOL)).isEqualTo("3000");
        assertThat(counter(tenant, "asOf")).isEqualTo("2000");
    }

    @Test
    void aDeposedLeaderChangesNothing() {
        TenantId tenant = new TenantId("adm-deposed");
        liveCounterTotals.setTenant(tenant, true, Map.of());
        queued(tenant, Ids.next());
        LiveCounterTotals old = new LiveCounterTotals();
        old.setTenant(tenant, true, Map.of());
        counters().publish(2, 2_000, liveCounterTotals);
        counters().publish(1, 3_000, old);
        assertThat(counter(tenant, "queued:" + queue)).isEqualTo("1");
        assertThat(counter(tenant, "epoch")).isEqualTo("2");
    }

    @Test
    void anotherLeaderTakesOverWithAllThereIs() {
        TenantId tenant = new TenantId("adm-takeover");
        liveCounterTotals.setTenant(tenant, true, Map.of());
        queued(tenant, Ids.next(), Ids.next());
        counters().publish(1, 1_000, liveCounterTotals);
        LiveCounterTotals next = new LiveCounterTotals();
        next.setTenant(tenant, true, Map.of());
        next.setWorkload(new CountedWorkload(
                tenant,
                Ids.next(),
                queue,
                POLICY,
                List.of(POOL),
                List.of(1_000L),
                new CountedWorkload.Place.Holding(POOL, 1_000)));
        counters().publish(2, 2_000, next);
        assertThat(counter(tenant, "queued:" + queue)).isEmpty();
        assertThat(counter(tenant, "used:-:" + POOL)).isEqualTo("1000");
    }

    @Test
    void scriptsThatRedisForgotAreSentAgain() {
        TenantId tenant = new TenantId("adm-noscript");
        liveCounterTotals.setTenant(tenant, true, Map.of());
        counters().publish(1, 1_000, liveCounterTotals);
        redis.script(List.of("FLUSH")).await().atMost(PATIENCE);
        assertThat(code(decide(admission(), tenant, ask(3, Ids.next())))).isEqualTo("admitted");
    }

    /** A client of this Redis with event loops of its own. */
    private record OwnClient(Vertx vertx, Redis client) implements AutoCloseable {

        static OwnClient open() {
            Vertx vertx = Vertx.vertx();
            String address = ConfigProvider.getConfig().getValue("quarkus.redis.hosts", String.class);
            return new OwnClient(vertx, Redis.createClient(vertx, address));
        }

        SubmissionAdmission admission() {
            RedisScriptRunner scripts = RedisScriptRunner.on(RedisAPI.api(client), vertx.getDelegate());
            return new SubmissionAdmission(scripts, 1_000, 5_000, Duration.ofSeconds(30));
        }

        /** Blocks every event loop until the latch opens. */
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
        liveCounterTotals.setTenant(tenant, true, Map.of());
        counters().publish(1, 1_000, liveCounterTotals);
        try (OwnClient own = OwnClient.open()) {
            SubmissionAdmission submissionAdmission = own.admission();
            assertThat(code(decide(submissionAdmission, tenant, ask(10, Ids.next()))))
                    .isEqualTo("admitted");
            CountDownLatch free = new CountDownLatch(1);
            own.occupyLoops(free);
            CompletableFuture<SubmissionAdmission.Verdict> verdict = submissionAdmission
                    .decide(tenant, List.of(ask(10, Ids.next())))
                    .subscribeAsCompletionStage()
                    .toCompletableFuture();
            CompletableFuture.delayedExecutor(1_300, TimeUnit.MILLISECONDS).execute(free::countDown);

            assertThat(code(verdict.get(10, TimeUnit.SECONDS))).isEqualTo("admitted");
            assertThat(code(decide(submissionAdmission, tenant, ask(10, Ids.next()))))
                    .isEqualTo("admitted");
        }
    }

    @Test
    void aRedisThatStandsStillIsLeftAloneAfterOneCall() {
        TenantId tenant = new TenantId("adm-still");
        liveCounterTotals.setTenant(tenant, true, Map.of());
        counters().publish(1, 1_000, liveCounterTotals);
        try (OwnClient own = OwnClient.open()) {
            SubmissionAdmission submissionAdmission = own.admission();
            assertThat(code(decide(submissionAdmission, tenant, ask(10, Ids.next()))))
                    .isEqualTo("admitted");
            redis.client(List.of("PAUSE", "4000", "WRITE")).await().atMost(PATIENCE);
            try {
                assertThat(code(decide(submissionAdmission, tenant, ask(10, Ids.next()))))
                        .isEqualTo("unknown");
                long before = System.nanoTime();
                assertThat(code(decide(submissionAdmission, tenant, ask(10, Ids.next()))))
                        .isEqualTo("unknown");
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
                        List.of(
                                ask(10, Ids.next()),
                                new SubmissionAdmission.RoomRequest(Ids.next(), "other", 1, List.of(Ids.next())))));

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
                        List.of(
                                ask(10, Ids.next()),
                                new SubmissionAdmission.RoomRequest(Ids.next(), "none", 0, List.of(Ids.next())))));

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
            liveCounterTotals.setTenant(tenant, true, Map.of());
        }
        redis.set(List.of(LiveCounters.countersKey(odd), "no counters")).await().atMost(PATIENCE);
        redis.set(List.of(LiveCounters.holdsKey(spoiled, queue), "no holds"))
                .await()
                .atMost(PATIENCE);
        queued(spoiled, Ids.next());
        String marker = "qm:{test}:" + Ids.next();
        RedisScriptRunner scripts = scripts();
        LiveCounters liveCounters = new LiveCounters(scripts, marker);

        for (int i = 0; i < 3; i++) {
            liveCounters.publish(1, 1_000, liveCounterTotals);
        }

        assertThat(counter(odd, "state")).isEqualTo("active");
        assertThat(counter(other, "state")).isEqualTo("active");
        assertThat(redis.get(marker).await().atMost(PATIENCE)).hasToString("1");
        SubmissionAdmission submissionAdmission =
                new SubmissionAdmission(scripts, 1_000, 5_000, Duration.ofSeconds(30));
        assertThat(code(decide(submissionAdmission, spoiled, ask(3, Ids.next()))))
                .isEqualTo("unknown");
        assertThat(code(decide(submissionAdmission, other, ask(3, Ids.next())))).isEqualTo("admitted");
    }

    @Test
    void noTenantsKeysAreTheCells() {
        assertThat(LiveCounters.countersKey(new TenantId("main"))).doesNotStartWith(Wakeups.CELL_KEYS);
    }

    @Test
    void aRedisThatIsAwayCostsNoTimeAfterTheFirstCall() {
        Vertx vertx = Vertx.vertx();
        Redis nowhere = Redis.createClient(vertx, "redis://127.0.0.1:1");
        try {
            RedisScriptRunner scripts = RedisScriptRunner.on(RedisAPI.api(nowhere), vertx.getDelegate());
            SubmissionAdmission submissionAdmission =
                    new SubmissionAdmission(scripts, 1_000, 5_000, Duration.ofSeconds(30));
            TenantId tenant = new TenantId("adm-away");
            assertThat(code(decide(submissionAdmission, tenant, ask(3, Ids.next()))))
                    .isEqualTo("unknown");
            long before = System.nanoTime();
            for (int i = 0; i < 100; i++) {
                assertThat(code(decide(submissionAdmission, tenant, ask(3, Ids.next()))))
                        .isEqualTo("unknown");
            }
            assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(1));
            liveCounterTotals.setTenant(tenant, true, Map.of());
            new LiveCounters(scripts, "qm:{test}:away").publish(1, 1_000, liveCounterTotals);
        } finally {
            nowhere.close();
            vertx.closeAndAwait();
        }
    }
}
