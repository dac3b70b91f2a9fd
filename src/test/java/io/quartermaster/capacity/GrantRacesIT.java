package io.quartermaster.capacity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.equalTo;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.access.Caller;
import io.quartermaster.capacity.grants.AllotmentService;
import io.quartermaster.capacity.inventory.NodeIsolationRule;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemTransaction;
import io.quartermaster.tenancy.TestTenants;
import io.restassured.response.Response;
import jakarta.inject.Inject;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Grants of allotments that race with the offboarding of their tenant or the retirement of their pool. */
@QuarkusTest
class GrantRacesIT extends OperatorsWork {

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @Inject
    AllotmentService allotments;

    @Test
    void nothingIsGrantedToATenantThatBeganToLeaveWhileTheGrantWaited() {
        String tenant = "grants-leaves";
        TestTenants.provision(tenant);
        pool("grants-left");

        Response grant = whileWaiting(
                tx -> lockQuotas(tx, tenant), () -> grant(tenant, "grants-left"), () -> move(tenant, "offboarding"));

        grant.then().statusCode(409).body("code", equalTo("wrong-state")).body("detail", containsString("offboarding"));
        operator()
                .body(Map.of(
                        "pool",
                        "grants-left",
                        "gpus",
                        "1",
                        "startsAt",
                        Instant.now().plus(Duration.ofDays(1)).toString(),
                        "endsAt",
                        Instant.now().plus(Duration.ofDays(2)).toString()))
                .post("/v1/operator/tenants/" + tenant + "/capacity-reservations")
                .then()
                .statusCode(409)
                .body("code", equalTo("wrong-state"));
        move(tenant, "deleted");
        grant(tenant, "grants-left").then().statusCode(404);
        operator().delete("/v1/operator/pools/grants-left").then().statusCode(204);
    }

    @Test
    void anAllotmentOfATenantThatHasLeftIsListedAndTakenBack() {
        String tenant = "grants-has-left";
        TestTenants.provision(tenant);
        pool("grants-withheld");
        grant(tenant, "grants-withheld").then().statusCode(201);
        move(tenant, "deleted");
        String path = "/v1/operator/tenants/" + tenant + "/allotments";

        operator().get(path).then().statusCode(200).body("items.pool", equalTo(List.of("grants-withheld")));
        operator().delete(path + "/grants-withheld").then().statusCode(204);

        operator().get(path).then().statusCode(200).body("items", empty());
        operator().delete(path + "/grants-withheld").then().statusCode(404);
        operator().delete("/v1/operator/pools/grants-withheld").then().statusCode(204);
    }

    @Test
    void whatWasBeingGrantedWhenATenantLeftIsTakenBackWithTheRest() {
        String tenant = "grants-takes-all";
        TestTenants.provision(tenant);
        String pool = pool("grants-late");

        CompletableFuture<Void> taken = database.run(PATIENCE, tx -> {
            lockQuotas(tx, tenant);
            CompletableFuture<Void> waiting =
                    allotments.revokeAll(new TenantId(tenant), Caller.service()).subscribeAsCompletionStage();
            awaitWaiting(waiting);
            insertAllotment(tx, tenant, pool);
            return waiting;
        });
        taken.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();

        operator()
                .get("/v1/operator/tenants/" + tenant + "/allotments")
                .then()
                .statusCode(200)
                .body("items", empty());
    }

    @Test
    void nothingIsGrantedInAPoolThatWasRetiredWhileTheGrantWaited() {
        pool("grants-retired");

        Response grant = whileWaiting(tx -> lockQuotas(tx, A), () -> grant(A, "grants-retired"), () -> operator()
                .delete("/v1/operator/pools/grants-retired")
                .then()
                .statusCode(204));

        grant.then().statusCode(404);
        operator()
                .get("/v1/operator/tenants/" + A + "/allotments/grants-retired")
                .then()
                .statusCode(404);
    }

    @Test
    void aPoolInWhichAnAllotmentIsBeingGrantedIsNotRetired() {
        String pool = pool("grants-granted");

        Response retired = whileWaiting(
                tx -> {
                    tx.run(NodeIsolationRule.lockSql("$1::text"), pool);
                    insertAllotment(tx, B, pool);
                },
                () -> operator().delete("/v1/operator/pools/grants-granted"),
                () -> {});

        retired.then().statusCode(409).body("code", equalTo("in-use"));
    }

    /** An allotment as older versions could leave it, which did not check again under the lock. */
    @Test
    void anAllotmentInARetiredPoolIsTakenBack() {
        for (String name : List.of("grants-gone-1", "grants-gone-2")) {
            pool(name);
            grant(B, name).then().statusCode(201);
            run("update pool set retired_at = now() where name = $1", name);
        }

        operator()
                .delete("/v1/operator/tenants/" + B + "/allotments/grants-gone-1")
                .then()
                .statusCode(204);
        allotments.revokeAll(new TenantId(B), Caller.service()).await().atMost(PATIENCE);

        int left = database.run(PATIENCE, tx -> tx.run("select 1 from allotment a join pool p on p.id = a.pool_id"
                        + " where p.name in ('grants-gone-1', 'grants-gone-2')")
                .rowCount());
        assertThat(left).isZero();
    }

    /** Makes a request wait for the locks of a transaction, and runs an action before that transaction ends. */
    private Response whileWaiting(Consumer<SystemTransaction> locks, Supplier<Response> request, Runnable meanwhile) {
        CompletableFuture<Response> answer = database.run(PATIENCE, tx -> {
            locks.accept(tx);
            CompletableFuture<Response> waiting = CompletableFuture.supplyAsync(request, Thread::startVirtualThread);
            awaitWaiting(waiting);
            meanwhile.run();
            return waiting;
        });
        return answer.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
    }

    private void awaitWaiting(CompletableFuture<?> request) {
        Awaitility.await("a transaction that waits for an advisory lock")
                .atMost(PATIENCE)
                .until(() -> {
                    assertThat(request)
                            .withFailMessage(() -> "it waited for no lock: " + said(request))
                            .isNotDone();
                    return database.run(PATIENCE, tx -> tx.run(
                                            "select 1 from pg_locks where locktype = 'advisory' and not granted")
                                    .rowCount())
                            > 0;
                });
    }

    private static String said(CompletableFuture<?> request) {
        return request.state() == Future.State.SUCCESS && request.resultNow() instanceof Response answer
                ? answer.statusCode() + " " + answer.asString()
                : request.toString();
    }

    private static void lockQuotas(SystemTransaction tx, String tenant) {
        tx.run("select pg_advisory_xact_lock(hashtextextended('quotas:' || $1::text, 0))", tenant);
    }

    private static void insertAllotment(SystemTransaction tx, String tenant, String pool) {
        tx.run(
                "insert into allotment (tenant_id, pool_id, reserved_milli) values ($1, $2, 1000)",
                tenant,
                UUID.fromString(pool));
    }

    private void move(String tenant, String state) {
        run("update tenant set state = $2 where id = $1", tenant, state);
    }

    private void run(String sql, Object... parameters) {
        database.run(PATIENCE, tx -> tx.run(sql, parameters));
    }

    private static String pool(String name) {
        return operator()
                .body(Map.of("name", name, "capacity", "4"))
                .post("/v1/operator/pools")
                .then()
                .statusCode(201)
                .extract()
                .path("id");
    }

    private static Response grant(String tenant, String pool) {
        return operator().body(Map.of("reserved", "1")).put("/v1/operator/tenants/" + tenant + "/allotments/" + pool);
    }
}
