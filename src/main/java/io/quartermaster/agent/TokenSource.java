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
 * What the node shows the service: the token of a session that the service gave it, so that a node's lease does not hang on Keycloak.
 *
 * <p>An access token of Keycloak, by the client credentials grant (RFC 6749, section 4.4), opens the first session; each session opens the
 * next one in the middle of its life, beside the calls. Where the service gives no session (an older one gives none), the access
 * token is shown itself: it is renewed in the middle of its life, too, and used to its end where it cannot be renewed.
 *
 * <p>Threads: one caller at a time; renewals are on a thread of their own, and the fields that they share are guarded by this object.
 */
final class TokenSource {
    private static final Duration LIMIT = Duration.ofSeconds(10);

    /** Between two tries to renew, or to get, what can be done without for now. */
    private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** An access token is not shown in its last seconds: it may be older when it is looked at. */
    private static final long LAST_NANOS = TimeUnit.SECONDS.toNanos(3);

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

    /** An opener of sessions, or a getter of access tokens. */
    private interface Step {
        void run() throws IOException, InterruptedException;
    }

    /**
     * @param sessions where the service gives sessions to this node
     * @param file keeps the session while no agent runs
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

    /** What to show with the next call. */
    String current() throws IOException, InterruptedException {
        NodeSession kept = session();
        if (kept != null) {
            if (System.currentTimeMillis() >= kept.renewAtEpochMillis()) {
                renewBeside("session", () -> open(kept.token()));
            }
            return kept.token();
        }
        String shown = accessToken();
        if (System.nanoTime() - openAfterNanos >= 0) {
            openAfterNanos = System.nanoTime() + RETRY_NANOS;
            try {
                return open(shown).token();
            } catch (ServiceFailure e) {
                boolean unknown = e.status() == 404 || e.status() == 405;
                if (!unknown) {
                    log.accept("the service gives this node no session: " + e.getMessage());
                }
            } catch (IOException e) {
                // The service cannot be reached; the call itself will say so.
            }
        }
        return shown;
    }

    private String accessToken() throws IOException, InterruptedException {
        AccessToken kept = access();
        long now = System.nanoTime();
        if (kept == null || now - kept.endAtNanos() >= 0) {
            return login().text();
        }
        if (now - kept.renewAtNanos() >= 0) {
            renewBeside("access token", this::login);
        }
        return kept.text();
    }

    /** While what there is still does, nothing waits for its successor. */
    private synchronized void renewBeside(String what, Step renewal) {
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
                renewed();
            }
        });
    }

    private synchronized void renewed() {
        renewing = false;
        renewAfterNanos = System.nanoTime() + RETRY_NANOS;
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
                .timeout(LIMIT)
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(HttpRequest.BodyPublishers.ofString(form))
                .build();
        long sentAtNanos = System.nanoTime();
        HttpResponse<String> response = ServiceClient.send(http, request, HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() != 200) {
            throw new IOException("%s gives no token to client %s: status %d"
                    .formatted(credentials.tokenEndpoint(), credentials.clientId(), response.statusCode()));
        }
        JsonNode body = json.readTree(response.body());
        String fresh = body.path("access_token").asText("");
        if (fresh.isEmpty()) {
            throw new IOException("%s answered without a token".formatted(credentials.tokenEndpoint()));
        }
        long life = TimeUnit.SECONDS.toNanos(body.path("expires_in").asLong(60));
        AccessToken token =
                new AccessToken(fresh, sentAtNanos + life / 2, sentAtNanos + Math.max(life / 2, life - LAST_NANOS));
        synchronized (this) {
            access = token;
        }
        return token;
    }

    /** A new session, on the strength of a token. */
    private NodeSession open(String shown) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(sessions)
                .timeout(LIMIT)
                .header("Authorization", "Bearer " + shown)
                .header("Accept", "application/json")
                .POST(HttpRequest.BodyPublishers.noBody())
                .build();
        HttpResponse<byte[]> response = ServiceClient.send(http, request, HttpResponse.BodyHandlers.ofByteArray());
        if (response.statusCode() != 201) {
            throw ServiceClient.failure(json, sessions, response);
        }
        JsonNode body = json.readTree(response.body());
        String token = body.path("token").asText("");
        long life = body.path("lifeMillis").asLong(0);
        if (token.isEmpty() || life <= 0) {
            throw new IOException("%s answered without a session".formatted(sessions));
        }
        NodeSession opened = new NodeSession(token, System.currentTimeMillis() + life / 2);
        synchronized (this) {
            session = opened;
            opened.write(file);
        }
        return opened;
    }

    /** The service did not accept this one. */
    synchronized void refused(String token) throws IOException {
        NodeSession kept = session;
        AccessToken shown = access;
        if (kept != null && kept.token().equals(token)) {
            session = null;
            Files.deleteIfExists(file);
            openAfterNanos = System.nanoTime();
        }
        if (shown != null && shown.text().equals(token)) {
            access = null;
        }
    }

    private static String encode(String value) {
        return URLEncoder.encode(value, StandardCharsets.UTF_8);
    }
}
