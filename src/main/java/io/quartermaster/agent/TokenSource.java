package io.quartermaster.agent;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.agent.AgentConfig.Credentials;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The source of the tokens for calls to the service. These are session tokens from the service itself, so that the
 * renewal of the node's lease does not depend on Keycloak.
 *
 * <p>An access token of Keycloak, by the client credentials grant (RFC 6749, section 4.4), opens the first session.
 * Each session opens the next one in the middle of its life, concurrently with the calls. If the service issues no
 * session (an older one issues none), the calls carry the access token itself. It is renewed in the middle of its life,
 * too, and used until it expires if it cannot be renewed.
 *
 * <p>Threads: one caller at a time; renewals have their own thread, and this object guards the shared fields.
 */
final class TokenSource {
    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(10);

    /** The pause between two tries to renew a token that is still valid, or to get an optional one. */
    private static final long RETRY_INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** An access token is not used in its last seconds: it may have expired when the service checks it. */
    private static final long EXPIRY_MARGIN_NANOS = TimeUnit.SECONDS.toNanos(3);

    private final HttpClient http;
    private final ObjectMapper json;
    private final Credentials credentials;
    private final URI sessions;
    private final Path file;
    private final Consumer<String> log;

    private @Nullable NodeSession session;
    private @Nullable AccessToken access;
    private boolean renewing;
    private long renewAfterNanos = System.nanoTime();
    private long openAfterNanos = System.nanoTime();

    private record AccessToken(String text, long renewAtNanos, long endAtNanos) {}

    /** A step that opens a session or gets an access token. */
    private interface Step {
        void run() throws IOException, InterruptedException;
    }

    /**
     * @param sessions the URL at which the service issues sessions to this node
     * @param file stores the session while no agent runs
     */
    TokenSource(
            HttpClient http, ObjectMapper json, Credentials credentials, URI sessions, Path file, Consumer<String> log)
            throws IOException {
        this.http = http;
        this.json = json;
        this.credentials = credentials;
        this.sessions = sessions;
        this.file = file;
        this.log = log;
        this.session = NodeSession.read(file).orElse(null);
    }

    /** The token for the next call. */
    String validToken() throws IOException, InterruptedException {
        NodeSession known = session();
        if (known != null) {
            if (System.currentTimeMillis() >= known.renewAtEpochMillis()) {
                renewInBackground("session", () -> openSession(known.token()));
            }
            return known.token();
        }
        String fallback = accessToken();
        if (System.nanoTime() - openAfterNanos >= 0) {
            openAfterNanos = System.nanoTime() + RETRY_INTERVAL_NANOS;
            try {
                return openSession(fallback).token();
            } catch (ServiceFailure e) {
                boolean unknown = e.status() == 404 || e.status() == 405;
                if (!unknown) {
                    log.accept("the service issues no session to this node: " + e.getMessage());
                }
            } catch (IOException e) {
                // The service cannot be reached; the call itself will report that.
            }
        }
        return fallback;
    }

    private String accessToken() throws IOException, InterruptedException {
        AccessToken known = access();
        long now = System.nanoTime();
        if (known == null || now - known.endAtNanos() >= 0) {
            return login().text();
        }
        if (now - known.renewAtNanos() >= 0) {
            renewInBackground("access token", this::login);
        }
        return known.text();
    }

    /** Renews concurrently: while the current token is valid, no call waits for the next one. */
    private synchronized void renewInBackground(String what, Step renewal) {
        if (renewing || System.nanoTime() - renewAfterNanos < 0) {
            return;
        }
        renewing = true;
        Thread.ofVirtual().name("renewal").start(() -> {
            try {
                renewal.run();
            } catch (IOException e) {
                log.accept("the %s of this node is not renewed yet: %s".formatted(what, e.getMessage()));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } finally {
                endRenewal();
            }
        });
    }

    private synchronized void endRenewal() {
        renewing = false;
        renewAfterNanos = System.nanoTime() + RETRY_INTERVAL_NANOS;
    }

    private synchronized @Nullable NodeSession session() {
        return session;
    }

    private synchronized @Nullable AccessToken access() {
        return access;
    }

    private AccessToken login() throws IOException, InterruptedException {
        String form = "grant_type=client_credentials&client_id=%s&client_secret=%s"
                .formatted(encode(credentials.clientId()), encode(credentials.clientSecret()));
        HttpRequest request = HttpRequest.newBuilder(credentials.tokenEndpoint())
                .timeout(REQUEST_TIMEOUT)
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(HttpRequest.BodyPublishers.ofString(form))
                .build();
        long sentAtNanos = System.nanoTime();
        HttpResponse<String> response = ServiceClient.send(http, request, HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() != 200) {
            throw new IOException("%s issues no token to client %s: status %d"
                    .formatted(credentials.tokenEndpoint(), credentials.clientId(), response.statusCode()));
        }
        JsonNode body = json.readTree(response.body());
        String fresh = body.path("access_token").asText("");
        if (fresh.isEmpty()) {
            throw new IOException("%s answered without a token".formatted(credentials.tokenEndpoint()));
        }
        long lifetimeNanos = TimeUnit.SECONDS.toNanos(body.path("expires_in").asLong(60));
        AccessToken token = new AccessToken(
                fresh,
                sentAtNanos + lifetimeNanos / 2,
                sentAtNanos + Math.max(lifetimeNanos / 2, lifetimeNanos - EXPIRY_MARGIN_NANOS));
        synchronized (this) {
            access = token;
        }
        return token;
    }

    /** Opens a new session with a valid token. */
    private NodeSession openSession(String bearer) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(sessions)
                .timeout(REQUEST_TIMEOUT)
                .header("Authorization", "Bearer " + bearer)
                .header("Accept", "application/json")
                .POST(HttpRequest.BodyPublishers.noBody())
                .build();
        HttpResponse<byte[]> response = ServiceClient.send(http, request, HttpResponse.BodyHandlers.ofByteArray());
        if (response.statusCode() != 201) {
            throw ServiceClient.failure(json, sessions, response);
        }
        JsonNode body = json.readTree(response.body());
        String token = body.path("token").asText("");
        long lifetimeMillis = body.path("lifeMillis").asLong(0);
        if (token.isEmpty() || lifetimeMillis <= 0) {
            throw new IOException("%s answered without a session".formatted(sessions));
        }
        NodeSession opened = new NodeSession(token, System.currentTimeMillis() + lifetimeMillis / 2);
        synchronized (this) {
            session = opened;
            opened.write(file);
        }
        return opened;
    }

    /** Discards a token that the service refused. */
    synchronized void discard(String token) throws IOException {
        NodeSession knownSession = session;
        AccessToken knownAccess = access;
        if (knownSession != null && knownSession.token().equals(token)) {
            session = null;
            Files.deleteIfExists(file);
            openAfterNanos = System.nanoTime();
        }
        if (knownAccess != null && knownAccess.text().equals(token)) {
            access = null;
        }
    }

    private static String encode(String value) {
        return URLEncoder.encode(value, StandardCharsets.UTF_8);
    }
}
