package io.quartermaster.workloads;

import static io.quartermaster.tenancy.TestTenants.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.metering.Superuser;
import io.quartermaster.platform.Ids;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.DatabaseFailures;
import io.quartermaster.platform.db.SystemTransaction;
import io.quartermaster.platform.http.JsonSettings;
import io.quartermaster.platform.writes.TenantWrites.KeyedAnswer;
import io.quartermaster.workloads.SubmissionStore.Member;
import io.quartermaster.workloads.SubmissionStore.Outcome;
import io.quartermaster.workloads.SubmissionStore.SubmittedRow;
import io.restassured.response.Response;
import io.smallrye.mutiny.Uni;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Submissions that are committed together: what a member of a group shares with the others, and what it does not. */
@QuarkusTest
class SubmissionGroupsIT extends TwoTenantsWork {

    private static final TenantId TENANT = new TenantId(A);
    private static final String LOCKED =
            "select 1 from pg_locks l join pg_stat_activity s on s.pid = l.pid where not l.granted and s.usename = "
                    + "(select rolname from pg_roles where rolname like '%request')";

    @Inject
    SubmissionGroups groups;

    @Inject
    QueueDirectory queues;

    @Test
    void membersThatWaitedAreCommittedTogetherInTheirOrder() {
        List<Member> members = held(20);
        List<CompletableFuture<Outcome>> outcomes = new ArrayList<>();

        whileTheQueueIsLocked(tx -> outcomes.addAll(behindTheFirst(members)));

        assertThat(outcomes.stream().map(CompletableFuture::join)).containsOnly(Outcome.ENTERED);
        assertThat(stored(members)).isEqualTo(idsOf(members));
        assertThat(transactions(members.subList(0, 1))).hasSize(1);
        assertThat(transactions(members.subList(1, 20))).hasSize(1);
        assertThat(transactions(members)).hasSize(2);
    }

    @Test
    void aGroupIsBounded() {
        List<Member> members = held(1 + SubmissionGroups.MAX_MEMBERS + 10);
        List<CompletableFuture<Outcome>> outcomes = new ArrayList<>();

        whileTheQueueIsLocked(tx -> outcomes.addAll(behindTheFirst(members)));

        assertThat(outcomes.stream().map(CompletableFuture::join)).containsOnly(Outcome.ENTERED);
        assertThat(transactions(members)).hasSize(3);
        assertThat(transactions(members.subList(1, 1 + SubmissionGroups.MAX_MEMBERS)))
                .hasSize(1);
    }

    @Test
    void oneBadMemberDoesNotFailTheOthers() {
        List<Member> members = new ArrayList<>(held(5));
        members.set(2, member(Map.of("priority", 5_000), Optional.empty()));
        List<CompletableFuture<Outcome>> outcomes = new ArrayList<>();

        whileTheQueueIsLocked(tx -> outcomes.addAll(behindTheFirst(members)));

        for (int i : List.of(0, 1, 3, 4)) {
            assertThat(outcomes.get(i).join()).as("member %d", i).isEqualTo(Outcome.ENTERED);
        }
        assertThatThrownBy(outcomes.get(2)::join)
                .isInstanceOf(CompletionException.class)
                .rootCause()
                .satisfies(failure -> assertThat(DatabaseFailures.state(failure))
                        .as("a violated check")
                        .isEqualTo("23514"));
        members.remove(2);
        assertThat(stored(members)).isEqualTo(idsOf(members));
    }

    @Test
    void aKeyIsUsedOnceInAGroupAndItsAnswerIsStored() {
        String key = "in-a-group-" + UUID.randomUUID();
        List<Member> members = List.of(
                member(Map.of(), Optional.empty()),
                member(Map.of(), keyed(key)),
                member(Map.of(), keyed("another-" + key)),
                member(Map.of(), keyed(key)),
                member(Map.of(), Optional.empty()));
        List<CompletableFuture<Outcome>> outcomes = new ArrayList<>();

        whileTheQueueIsLocked(tx -> outcomes.addAll(behindTheFirst(members)));

        assertThat(outcomes.stream().map(CompletableFuture::join))
                .containsExactly(Outcome.ENTERED, Outcome.ENTERED, Outcome.ENTERED, Outcome.REPEATED, Outcome.ENTERED);
        assertThat(stored(List.of(members.get(3)))).isEmpty();
        assertThat(rows.run("select body from idempotency where tenant_id = $1 and key = $2 and status = 201", A, key))
                .singleElement()
                .satisfies(row -> assertThat(row.getString("body")).isEqualTo("{\"of\":\"" + key + "\"}"));
    }

    /** Through the API: the repeated requests get the first answer, and another request with the key is refused. */
    @Test
    void requestsWithOneKeyInAGroupGetOneAnswer() {
        String token = member();
        String key = "one-answer-" + UUID.randomUUID();
        List<CompletableFuture<Response>> answers = new ArrayList<>();
        long before = rows.workloads();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            whileTheQueueIsLocked(tx -> {
                CompletableFuture<Outcome> first =
                        groups.submit(TENANT, held(1).getFirst()).subscribeAsCompletionStage();
                awaitLock();
                for (int i = 0; i < 4; i++) {
                    answers.add(CompletableFuture.supplyAsync(
                            () -> request(token)
                                    .header("Idempotency-Key", key)
                                    .body(with(training(rnd, "keyed"), "hold", true))
                                    .post(WORKLOADS),
                            threads));
                }
                assertThat(first).isNotDone();
            });
        }

        List<String> ids = answers.stream()
                .map(answer -> answer.join().then().statusCode(201).extract().<String>path("id"))
                .toList();
        assertThat(Set.copyOf(ids)).hasSize(1);
        assertThat(rows.workloads()).isEqualTo(before + 2);
        request(token)
                .header("Idempotency-Key", key)
                .body(with(training(rnd, "something else"), "hold", true))
                .post(WORKLOADS)
                .then()
                .statusCode(422);
    }

    @Test
    void aTenantThatIsSuspendedMeanwhileTakesNothingMore() {
        List<Member> members = held(4);
        List<CompletableFuture<Outcome>> outcomes = new ArrayList<>();
        try {
            whileTheQueueIsLocked(tx -> {
                outcomes.addAll(behindTheFirst(members));
                tx.run("update tenant set state = 'suspended' where id = $1", A);
            });

            assertThat(outcomes.subList(1, 4).stream().map(CompletableFuture::join))
                    .containsOnly(Outcome.OUTDATED);
            assertThat(stored(members.subList(1, 4))).isEmpty();
        } finally {
            rows.run("update tenant set state = 'active' where id = $1", A);
        }
    }

    @Test
    void aLostConnectionFailsItsGroupAndTheNextGoesOn() {
        List<Member> members = held(3);
        List<CompletableFuture<Outcome>> outcomes = new ArrayList<>();

        whileTheQueueIsLocked(tx -> {
            outcomes.addAll(behindTheFirst(members));
            Superuser.run(
                    "select pg_terminate_backend(l.pid) from (" + LOCKED.replace("select 1", "select l.pid") + ") l");
        });

        assertThatThrownBy(outcomes.getFirst()::join)
                .satisfies(failure -> assertThat(DatabaseFailures.isTransient(failure))
                        .as("answered with 503: %s", failure)
                        .isTrue());
        assertThat(outcomes.subList(1, 3).stream().map(CompletableFuture::join)).containsOnly(Outcome.ENTERED);
        assertThat(stored(members)).isEqualTo(idsOf(members.subList(1, 3)));
    }

    @Test
    void aQueueOfAnotherTenantTakesNothing() {
        Member member = held(1).getFirst();

        assertThat(groups.submit(new TenantId(B), member).await().atMost(PATIENCE))
                .isEqualTo(Outcome.OUTDATED);
        assertThat(rows.run(
                        "select 1 from workload where id = $1",
                        idsOf(List.of(member)).getFirst()))
                .isEmpty();
    }

    /** Keeps the first of all groups in its transaction until the work is done. */
    private void whileTheQueueIsLocked(Consumer<SystemTransaction> work) {
        database.run(PATIENCE, tx -> {
            tx.run("select 1 from queue where tenant_id = $1 and name = $2 for update", A, rnd);
            work.accept(tx);
            return null;
        });
    }

    /** Submits the first member, waits until it waits for the queue, and submits the others. */
    private List<CompletableFuture<Outcome>> behindTheFirst(List<Member> members) {
        List<CompletableFuture<Outcome>> outcomes = new ArrayList<>();
        for (Member member : members) {
            Uni<Outcome> outcome = groups.submit(TENANT, member);
            outcomes.add(outcome.subscribeAsCompletionStage());
            if (outcomes.size() == 1) {
                awaitLock();
            }
        }
        return outcomes;
    }

    private void awaitLock() {
        Awaitility.await()
                .atMost(PATIENCE)
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(20))
                .until(() -> !rows.run(LOCKED).isEmpty());
    }

    private List<Member> held(int number) {
        return IntStream.range(0, number)
                .mapToObj(i -> member(Map.of(), keyed("group-" + UUID.randomUUID())))
                .toList();
    }

    private Member member(Map<String, Object> more, Optional<KeyedAnswer> keyed) {
        Map<String, Object> body = with(training(rnd, "in a group"), "hold", true);
        body.putAll(more);
        Submission item = JsonSettings.newMapper().convertValue(body, Submission.class);
        QueueTerms terms = Objects.requireNonNull(
                queues.read(TENANT, Set.of(rnd)).await().atMost(PATIENCE).get(rnd));
        return new Member("rnd-member", "subject", keyed, List.of(SubmittedRow.of(Ids.next(), item, terms)));
    }

    private static Optional<KeyedAnswer> keyed(String key) {
        return Optional.of(new KeyedAnswer(key, "fingerprint of " + key, 201, "{}", "{\"of\":\"" + key + "\"}"));
    }

    /** The stored workloads of these members, in the order in which they were stored. */
    private List<UUID> stored(List<Member> members) {
        return rows
                .run(
                        "select id from workload where tenant_id = $1 and id = any($2) order by seq",
                        A,
                        idsOf(members).toArray(UUID[]::new))
                .stream()
                .map(row -> row.getUUID("id"))
                .toList();
    }

    private static List<UUID> idsOf(List<Member> members) {
        return members.stream()
                .flatMap(member -> member.rows().stream())
                .map(SubmittedRow::id)
                .toList();
    }

    /** The transactions that stored the members, by the answers of their keys: nothing changes those later. */
    private Set<String> transactions(List<Member> members) {
        Set<String> found = new TreeSet<>();
        rows.run(
                        "select distinct cast(xmin as text) as transaction from idempotency where tenant_id = $1 and "
                                + "key = any($2)",
                        A,
                        members.stream()
                                .map(member -> member.keyed().orElseThrow().key())
                                .toArray(String[]::new))
                .forEach(row -> found.add(row.getString("transaction")));
        return found;
    }
}
