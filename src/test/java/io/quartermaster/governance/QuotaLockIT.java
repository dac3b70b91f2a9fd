package io.quartermaster.governance;

import static io.quartermaster.tenancy.TestTenants.adminToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.equalTo;

import io.quarkus.test.junit.QuarkusTest;
import io.restassured.response.Response;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** One change of a tenant's rules waits for another, but not for long. */
@QuarkusTest
class QuotaLockIT extends SharedPool {

    private static final Duration HELD = Duration.ofSeconds(50);

    /** As many as the request role has connections. */
    private static final int REQUESTS = 16;

    @Test
    void changesOfOneTenantThatWaitForItsLockHoldUpNoOtherTenantAndNotForLong() throws Exception {
        String token = adminToken(A);
        String other = adminToken(B);
        Callable<Response> change = () ->
                request(token).body(policy("rnd", "/rnd", "5", "9", "1xgpu")).post(TENANT + "/policies");
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Response>> waiting = new ArrayList<>();
            database.run(HELD, tx -> {
                tx.run("select 1 from pg_advisory_xact_lock(hashtextextended('quotas:' || $1, 0))", A);
                for (int i = 0; i < REQUESTS; i++) {
                    waiting.add(clients.submit(change));
                }

                request(other).get("/v1/tenants/" + B + "/policies").then().statusCode(200);

                for (Future<Response> one : waiting) {
                    answer(one)
                            .then()
                            .statusCode(503)
                            .header("Retry-After", equalTo("1"))
                            .body("code", equalTo("unavailable"))
                            .body("detail", containsString("other requests that change the same resources"));
                }
                return true;
            });
            assertThat(change.call().statusCode()).isEqualTo(201);
        }
    }

    private static Response answer(Future<Response> coming) {
        try {
            return coming.get(HELD.toSeconds(), TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError("a change has no answer while another one holds the lock", e);
        }
    }
}
