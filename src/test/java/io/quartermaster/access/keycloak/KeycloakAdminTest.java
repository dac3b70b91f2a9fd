package io.quartermaster.access.keycloak;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.quartermaster.access.GroupPath;
import io.quartermaster.access.IdentityConfig;
import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Calls to a socket that accepts connections and does not answer. Integration tests cover Keycloak itself. */
class KeycloakAdminTest {

    private static final Duration SHORT = Duration.ofMillis(300);
    private static final Duration LONG = Duration.ofSeconds(20);

    @Test
    void callsThatWereGivenUpHoldNothingBackWhileKeycloakStillHangs() throws Exception {
        try (Server server = Server.start()) {
            KeycloakAdmin admin = admin(server.port());
            server.hangs = true;
            List<CompletableFuture<Boolean>> calls = new ArrayList<>();
            for (int i = 0; i < 3 * KeycloakAdmin.MAX_CONCURRENT_CALLS; i++) {
                calls.add(exists(admin, SHORT));
            }
            for (CompletableFuture<Boolean> call : calls) {
                assertThat(failureOf(call).isUnavailable()).isTrue();
            }
            assertThat(server.hanging.get()).isPositive();
            server.hangs = false;

            assertThat(exists(admin, LONG).get(5, TimeUnit.SECONDS)).isTrue();
            admin.close();
        }
    }

    @Test
    void callThatIsGivenUpEndsItsConnection() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            KeycloakAdmin admin = admin(silent.getLocalPort());
            CompletableFuture<Boolean> call = exists(admin, SHORT);
            try (Socket connection = silent.accept()) {
                connection.setSoTimeout(Math.toIntExact(LONG.toMillis()));
                while (connection.getInputStream().read() >= 0) {
                    // the request, up to its end
                }
            }
            assertThat(failureOf(call).isUnavailable()).isTrue();
            admin.close();
        }
    }

    /** With {@code ..} in it, the URL would address the users, or another realm. */
    @Test
    void keycloakIsNotAskedForGroupsWithDotSteps() throws Exception {
        try (Server server = Server.start()) {
            server.hangs = true;
            KeycloakAdmin admin = admin(server.port());
            for (String path : List.of("/../users", "/rnd/../../other", "/rnd/.")) {
                assertThat(admin.call(LONG, keycloak -> keycloak.realm("acme").group(new GroupPath(path)))
                                .await()
                                .atMost(SHORT.multipliedBy(10)))
                        .isEmpty();
            }
            admin.close();
        }
    }

    /** The normal form of a path has these characters unencoded, and Keycloak refuses any other form. */
    @Test
    void unreservedCharactersOfGroupNamesAreNotEncoded() throws Exception {
        try (Server server = Server.start()) {
            KeycloakAdmin admin = admin(server.port());
            admin.call(LONG, keycloak -> keycloak.realm("acme").group(new GroupPath("/a~b/c-d._e %")))
                    .await()
                    .atMost(LONG);

            assertThat(server.lastPath).endsWith("/group-by-path/a~b/c-d._e%20%25");
            admin.close();
        }
    }

    @Test
    void keycloakIsAwayWhenItCannotBeAskedAndNotWhenItFails() throws Exception {
        try (Server server = Server.start()) {
            KeycloakAdmin admin = admin(server.port());
            for (int status : List.of(502, 503, 504)) {
                server.status = status;
                assertThat(failureOf(exists(admin, LONG)).isUnavailable())
                        .as("%s", status)
                        .isTrue();
            }
            server.status = 500;
            KeycloakFailure failure = failureOf(exists(admin, LONG));

            assertThat(failure.isUnavailable()).isFalse();
            assertThat(KeycloakFailureMapper.problem(failure).problem().status())
                    .isEqualTo(502);
            admin.close();
        }
    }

    @Test
    void callsOfManyRequestsHoldUpOthersForOneRequestOnly() throws Exception {
        try (Server server = Server.start()) {
            KeycloakAdmin admin = admin(server.port());
            CountDownLatch stop = new CountDownLatch(1);
            List<CompletableFuture<Boolean>> walks = new ArrayList<>();
            for (int i = 0; i < 2 * KeycloakAdmin.MAX_CONCURRENT_CALLS; i++) {
                walks.add(admin.call(LONG, keycloak -> {
                            while (stop.getCount() > 0) {
                                keycloak.realm("acme").exists();
                            }
                            return true;
                        })
                        .subscribeAsCompletionStage());
            }

            assertThat(exists(admin, LONG).get(10, TimeUnit.SECONDS)).isTrue();
            assertThat(walks).noneMatch(CompletableFuture::isDone);
            stop.countDown();
            for (CompletableFuture<Boolean> walk : walks) {
                assertThat(walk.get(10, TimeUnit.SECONDS)).isTrue();
            }
            assertThat(server.mostAtOnce.get()).isLessThanOrEqualTo(KeycloakAdmin.MAX_CONCURRENT_CALLS);
            admin.close();
        }
    }

    @Test
    void nobodyWaitsForATokenLongerThanACallMayTake() throws Exception {
        try (Server server = Server.start()) {
            server.tokensHang = true;
            KeycloakAdmin admin = admin(server.port());
            CompletableFuture<Boolean> first = exists(admin, LONG);
            CompletableFuture<Boolean> second = exists(admin, SHORT);

            assertThat(failureOf(second).isUnavailable()).isTrue();
            assertThat(first).isNotDone();
            server.release.countDown();
            assertThat(first.get(5, TimeUnit.SECONDS)).isTrue();
            admin.close();
        }
    }

    @Test
    void tokenThatKeycloakTakesNoMoreIsReplacedOnce() throws Exception {
        try (Server server = Server.start()) {
            KeycloakAdmin admin = admin(server.port());
            assertThat(exists(admin, LONG).get(5, TimeUnit.SECONDS)).isTrue();
            server.refused = "token-1";

            assertThat(exists(admin, LONG).get(5, TimeUnit.SECONDS)).isTrue();
            assertThat(server.tokens.get()).isEqualTo(2);
            admin.close();
        }
    }

    /** As for a realm that another replica created after this one got its token. */
    @Test
    void tokenThatIsOlderThanARealmIsReplacedOnce() throws Exception {
        try (Server server = Server.start()) {
            KeycloakAdmin admin = admin(server.port());
            assertThat(exists(admin, LONG).get(5, TimeUnit.SECONDS)).isTrue();
            server.forbidden = Set.of("token-1");

            assertThat(exists(admin, LONG).get(5, TimeUnit.SECONDS)).isTrue();
            assertThat(server.tokens.get()).isEqualTo(2);
            admin.close();
        }
    }

    @Test
    void whatIsForbiddenWithANewTokenTooIsTriedTwiceOnly() throws Exception {
        try (Server server = Server.start()) {
            KeycloakAdmin admin = admin(server.port());
            server.forbidden = Set.of("token-1", "token-2");

            KeycloakFailure failure = failureOf(exists(admin, LONG));

            assertThat(failure).hasMessageContaining("403");
            assertThat(KeycloakFailureMapper.problem(failure).problem().code()).isEqualTo("identity-refused");
            assertThat(server.tokens.get()).isEqualTo(2);
            admin.close();
        }
    }

    @Test
    void onlyARealmThatIsNotThereIsToldAsMissing() throws Exception {
        try (Server server = Server.start()) {
            KeycloakAdmin admin = admin(server.port());

            KeycloakFailure group = failureOf(subgroups(admin, "acme"));
            KeycloakFailure realm = failureOf(subgroups(admin, "gone"));
            KeycloakFailure operators = failureOf(subgroups(admin, "operator"));

            assertThat(group.missingRealm()).isEmpty();
            assertThat(KeycloakFailureMapper.problem(group).problem().code()).isEqualTo("identity-refused");
            assertThat(realm.missingRealm()).contains("gone");
            assertThat(KeycloakFailureMapper.problem(realm).problem().code()).isEqualTo("realm-not-found");
            assertThat(KeycloakFailureMapper.problem(operators).problem().code())
                    .isEqualTo("identity-refused");
            admin.close();
        }
    }

    private static CompletableFuture<Boolean> subgroups(KeycloakAdmin admin, String realm) {
        return admin.call(LONG, keycloak -> keycloak.realm(realm)
                        .subgroups("deleted", 0, 10)
                        .isEmpty())
                .subscribeAsCompletionStage();
    }

    private static CompletableFuture<Boolean> exists(KeycloakAdmin admin, Duration timeout) {
        return admin.call(timeout, keycloak -> keycloak.realm("acme").exists()).subscribeAsCompletionStage();
    }

    private static KeycloakFailure failureOf(CompletableFuture<Boolean> call)
            throws InterruptedException, TimeoutException {
        try {
            throw new AssertionError("answered " + call.get(5, TimeUnit.SECONDS));
        } catch (ExecutionException e) {
            if (e.getCause() instanceof KeycloakFailure failure) {
                return failure;
            }
            throw new AssertionError(e);
        }
    }

    private static KeycloakAdmin admin(int port) {
        return new KeycloakAdmin(new SmallRyeConfigBuilder()
                .addDiscoveredConverters()
                .withMapping(IdentityConfig.class)
                .withSources(new PropertiesConfigSource(
                        Map.of(
                                "quartermaster.identity.keycloak-url",
                                "http://127.0.0.1:" + port,
                                "quartermaster.identity.admin-password",
                                "secret"),
                        "test",
                        100))
                .build()
                .getConfigMapping(IdentityConfig.class));
    }

    /** Imitates the part of Keycloak that the calls above need, or does not answer. */
    private static final class Server implements AutoCloseable {

        private final HttpServer http;
        private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        private final CountDownLatch release = new CountDownLatch(1);
        private final AtomicInteger hanging = new AtomicInteger();
        private final AtomicInteger tokens = new AtomicInteger();
        private final AtomicInteger atOnce = new AtomicInteger();
        private final AtomicInteger mostAtOnce = new AtomicInteger();
        private volatile String lastPath = "";
        private volatile int status = 200;
        private volatile boolean hangs;
        private volatile boolean tokensHang;
        private volatile String refused = "";
        private volatile Set<String> forbidden = Set.of();

        private Server(HttpServer http) {
            this.http = http;
            http.setExecutor(threads);
            http.createContext("/realms/master/protocol/openid-connect/token", this::token);
            http.createContext("/admin/realms/acme", this::realm);
            http.start();
        }

        static Server start() throws IOException {
            return new Server(HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 50));
        }

        int port() {
            return http.getAddress().getPort();
        }

        private void token(HttpExchange exchange) throws IOException {
            if (tokensHang) {
                hang();
            }
            answer(exchange, 200, "{\"access_token\":\"token-" + tokens.incrementAndGet() + "\",\"expires_in\":60}");
        }

        private void realm(HttpExchange exchange) throws IOException {
            mostAtOnce.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
            try {
                answerRealm(exchange);
            } finally {
                atOnce.decrementAndGet();
            }
        }

        private void answerRealm(HttpExchange exchange) throws IOException {
            lastPath = exchange.getRequestURI().getRawPath();
            if (hangs) {
                hang();
            }
            String token =
                    exchange.getRequestHeaders().getFirst("Authorization").substring("Bearer ".length());
            boolean deleted = exchange.getRequestURI().getPath().contains("/groups/deleted");
            int status = token.equals(refused) ? 401 : forbidden.contains(token) ? 403 : deleted ? 404 : this.status;
            answer(exchange, status, "{\"realm\":\"acme\"}");
        }

        private void hang() {
            hanging.incrementAndGet();
            try {
                release.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private static void answer(HttpExchange exchange, int status, String body) throws IOException {
            byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().add("Content-Type", "application/json");
            exchange.sendResponseHeaders(status, bytes.length);
            exchange.getResponseBody().write(bytes);
            exchange.close();
        }

        @Override
        public void close() {
            release.countDown();
            http.stop(0);
            threads.shutdownNow();
        }
    }
}
