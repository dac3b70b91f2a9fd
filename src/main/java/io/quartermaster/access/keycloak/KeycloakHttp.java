package io.quartermaster.access.keycloak;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.access.IdentityConfig;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The connections to Keycloak's administration, with the administrator's token. It has an HTTP engine of its own (the
 * JDK's), so that no event loop of the service ever waits for Keycloak. Every request ends at its {@link CallDeadline},
 * or when its thread is interrupted.
 */
final class KeycloakHttp implements AutoCloseable {

    private static final int UNAUTHORIZED = 401;
    private static final int FORBIDDEN = 403;
    private static final int FIRST_ERROR = 400;
    private static final String TOKEN_PATH = "/realms/master/protocol/openid-connect/token";
    /** A token is not used during this last part of its life: it could expire in transit. */
    private static final Duration TOKEN_LIFETIME_MARGIN = Duration.ofSeconds(5);

    /**
     * Null fields are omitted: Keycloak leaves an absent field unchanged. Newer versions of Keycloak send fields that
     * are unknown here.
     */
    static final ObjectMapper JSON = new ObjectMapper()
            .setSerializationInclusion(JsonInclude.Include.NON_NULL)
            .configure(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, false);

    private final HttpClient http;
    private final String server;
    private final Map<String, String> grant;
    /**
     * Guards the renewal of {@link #token}, so that concurrent calls log in once; a call waits for it no longer than
     * its time limit.
     */
    private final ReentrantLock renewal = new ReentrantLock();
    /** One permit for each concurrent request; first come, first served. */
    private final Semaphore permits;

    private volatile @Nullable Token token;

    private record Token(String value, @Nullable String refresh, long renewAtNanos) {

        boolean isFresh() {
            return System.nanoTime() - renewAtNanos < 0;
        }
    }

    /** An answer of Keycloak with a status below 400. */
    record Answer(int status, Optional<String> location, byte[] body) {}

    /** @param maxConcurrentCalls the most concurrent requests */
    KeycloakHttp(IdentityConfig config, int maxConcurrentCalls) {
        this.permits = new Semaphore(maxConcurrentCalls, true);
        this.http = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(config.connectTimeout())
                .build();
        this.server = config.serverUrl();
        this.grant = grant(config);
    }

    private static Map<String, String> grant(IdentityConfig config) {
        Map<String, String> form = new LinkedHashMap<>();
        form.put("client_id", config.adminClientId());
        Optional<String> secret = config.adminClientSecret();
        if (secret.isPresent()) {
            form.put("grant_type", "client_credentials");
            form.put("client_secret", secret.get());
        } else {
            form.put("grant_type", "password");
            form.put("username", config.adminUsername());
            form.put("password", config.adminPassword().orElse(""));
        }
        return form;
    }

    /**
     * @param path below the server's address, with its query
     * @throws KeycloakFailure when Keycloak cannot be reached in time, or refuses
     */
    Answer send(String method, String path, @Nullable Object body, CallDeadline callDeadline) {
        Token used = token(callDeadline);
        HttpResponse<byte[]> response = exchange(newRequest(method, path, body, used), callDeadline);
        if (response.statusCode() == UNAUTHORIZED) {
            // Keycloak invalidates tokens early when it restarts, or when its administrator's sessions are removed.
            discard(used, callDeadline);
            response = exchange(newRequest(method, path, body, token(callDeadline)), callDeadline);
        } else if (response.statusCode() == FORBIDDEN) {
            // The realm may be newer than the token: another replica may have created it.
            renewToken(used, callDeadline);
            response = exchange(newRequest(method, path, body, token(callDeadline)), callDeadline);
        }
        if (response.statusCode() >= FIRST_ERROR) {
            throw KeycloakFailure.ofAnswer(response.statusCode(), text(response.body()));
        }
        return new Answer(response.statusCode(), response.headers().firstValue("Location"), response.body());
    }

    /**
     * Gets new rights for the requests that follow. A token does not cover realms that are newer than it, and
     * Keycloak's administrator gets the rights in a realm by creating it.
     */
    void renewToken(CallDeadline callDeadline) {
        renewToken(token, callDeadline);
    }

    /** As {@link #renewToken(CallDeadline)}, unless another call has got a newer token than the used one. */
    private void renewToken(@Nullable Token used, CallDeadline callDeadline) {
        lockRenewal(callDeadline);
        try {
            if (token == used) {
                token = logIn(grant, callDeadline);
            }
        } finally {
            renewal.unlock();
        }
    }

    private HttpRequest.Builder newRequest(String method, String path, @Nullable Object body, Token token) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(server + path))
                .header("Authorization", "Bearer " + token.value())
                .header("Accept", "application/json");
        return switch (body) {
            case null -> request.method(method, HttpRequest.BodyPublishers.noBody());
            case String text ->
                request.header("Content-Type", "text/plain; charset=utf-8")
                        .method(method, HttpRequest.BodyPublishers.ofString(text));
            default ->
                request.header("Content-Type", "application/json")
                        .method(method, HttpRequest.BodyPublishers.ofByteArray(write(body)));
        };
    }

    private HttpResponse<byte[]> exchange(HttpRequest.Builder request, CallDeadline callDeadline) {
        acquirePermit(callDeadline);
        try {
            return http.send(
                    request.timeout(callDeadline.remaining()).build(), HttpResponse.BodyHandlers.ofByteArray());
        } catch (IOException e) {
            String why = Optional.ofNullable(e.getMessage()).orElse(e.getClass().getSimpleName());
            throw KeycloakFailure.unavailable("Keycloak cannot be reached: " + why);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw callDeadline.timeoutFailure();
        } finally {
            permits.release();
        }
    }

    private void acquirePermit(CallDeadline callDeadline) {
        try {
            if (!permits.tryAcquire(callDeadline.remaining().toNanos(), TimeUnit.NANOSECONDS)) {
                throw callDeadline.timeoutFailure();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw callDeadline.timeoutFailure();
        }
    }

    private Token token(CallDeadline callDeadline) {
        Token known = token;
        if (known != null && known.isFresh()) {
            return known;
        }
        lockRenewal(callDeadline);
        try {
            Token renewed = token;
            if (renewed == null || !renewed.isFresh()) {
                renewed = renewed == null ? logIn(grant, callDeadline) : renew(renewed, callDeadline);
                token = renewed;
            }
            return renewed;
        } finally {
            renewal.unlock();
        }
    }

    /**
     * Renews the token within its Keycloak session, if it has one, so that Keycloak need not check a password and
     * create a session each minute.
     */
    private Token renew(Token old, CallDeadline callDeadline) {
        if (old.refresh() == null) {
            return logIn(grant, callDeadline);
        }
        Map<String, String> form = new LinkedHashMap<>(grant);
        form.keySet().removeAll(Set.of("username", "password"));
        form.put("grant_type", "refresh_token");
        form.put("refresh_token", old.refresh());
        try {
            return logIn(form, callDeadline);
        } catch (KeycloakFailure e) {
            if (e.isUnavailable()) {
                throw e;
            }
            return logIn(grant, callDeadline);
        }
    }

    private Token logIn(Map<String, String> form, CallDeadline callDeadline) {
        String body = form.entrySet().stream()
                .map(entry -> entry.getKey() + "=" + URLEncoder.encode(entry.getValue(), StandardCharsets.UTF_8))
                .collect(Collectors.joining("&"));
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(server + TOKEN_PATH))
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(HttpRequest.BodyPublishers.ofString(body));
        HttpResponse<byte[]> response = exchange(request, callDeadline);
        if (response.statusCode() >= FIRST_ERROR) {
            throw KeycloakFailure.ofAnswer(response.statusCode(), text(response.body()));
        }
        JsonNode answer = read(response.body(), JSON.constructType(JsonNode.class));
        Duration life = Duration.ofSeconds(answer.path("expires_in").asLong());
        Duration use = life.compareTo(TOKEN_LIFETIME_MARGIN.multipliedBy(2)) > 0
                ? life.minus(TOKEN_LIFETIME_MARGIN)
                : life.dividedBy(2);
        return new Token(
                answer.path("access_token").asText(),
                answer.hasNonNull("refresh_token") ? answer.get("refresh_token").asText() : null,
                System.nanoTime() + use.toNanos());
    }

    private void discard(Token refused, CallDeadline callDeadline) {
        lockRenewal(callDeadline);
        try {
            if (token == refused) {
                token = null;
            }
        } finally {
            renewal.unlock();
        }
    }

    private void lockRenewal(CallDeadline callDeadline) {
        try {
            if (!renewal.tryLock(callDeadline.remaining().toNanos(), TimeUnit.NANOSECONDS)) {
                throw callDeadline.timeoutFailure();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw callDeadline.timeoutFailure();
        }
    }

    private static byte[] write(Object body) {
        try {
            return JSON.writeValueAsBytes(body);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("a request to Keycloak cannot be written as JSON", e);
        }
    }

    static <T> T read(byte[] body, JavaType type) {
        try {
            return JSON.readValue(body, type);
        } catch (IOException e) {
            throw KeycloakFailure.ofInvalidAnswer("Keycloak's answer cannot be read: " + e.getMessage());
        }
    }

    private static String text(byte[] body) {
        return new String(body, StandardCharsets.UTF_8);
    }

    /** Ends the requests that are running. */
    @Override
    public void close() {
        http.shutdownNow();
    }
}
