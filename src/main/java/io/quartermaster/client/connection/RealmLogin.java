package io.quartermaster.client.connection;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.ExitStatus;
import io.quartermaster.client.settings.SavedLogin;
import io.quartermaster.client.settings.ServerContext;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Signs in at a tenant's realm: people with the device authorization grant (RFC 8628), programs with their client's
 * secret (RFC 6749, section 4.4).
 */
public final class RealmLogin {

    private static final String GRANT = "grant_type";
    private static final String CLIENT_ID = "client_id";
    private static final String CLIENT_SECRET = "client_secret";
    private static final String SCOPE = "scope";

    /** With it the login lasts beyond the session of a browser, until {@code qm logout} or weeks without use. */
    private static final String LASTING = "openid offline_access";

    private static final String SESSION = "openid";
    /** The addresses of a realm to which secrets are sent. */
    private static final List<String> ENDPOINTS =
            List.of("token_endpoint", "device_authorization_endpoint", "end_session_endpoint");

    private static final Duration DEFAULT_INTERVAL = Duration.ofSeconds(5);
    private static final Duration SLOWEST = Duration.ofSeconds(60);
    /** The errors (RFC 6749, section 5.2) after which a login cannot be renewed any more. */
    private static final Set<String> ENDED = Set.of("invalid_grant", "invalid_client", "unauthorized_client");

    private static final Duration SLOWER = Duration.ofSeconds(5);

    private final WebClient web;
    private final String issuer;
    private final String clientId;
    private final JsonNode provider;

    private RealmLogin(WebClient web, String issuer, String clientId, JsonNode provider) {
        this.web = web;
        this.issuer = issuer;
        this.clientId = clientId;
        this.provider = provider;
    }

    /** The code that a person enters at an address to sign in, and how long it is valid. */
    public record DeviceCode(
            String userCode, String address, @Nullable String addressWithCode, Duration validFor) {}

    /** Asks the service where the tenant signs in, and the issuer for its endpoints. */
    public static RealmLogin of(WebClient web, URI server, String tenant) {
        HttpResponse<String> answer = requireAnswer(web, server, tenant);
        JsonNode signIn = WebClient.read(answer.body());
        if (answer.statusCode() != 200 || !signIn.hasNonNull("issuer")) {
            throw new CommandFailure(
                    answer.statusCode() >= 500 ? ExitStatus.UNAVAILABLE : ExitStatus.FAILED,
                    server + " does not name where tenant " + tenant + " signs in (HTTP " + answer.statusCode()
                            + "). Check the address of the server");
        }
        String issuer = signIn.path("issuer").asText();
        requireEncryption(server, issuer);
        HttpResponse<String> described = web.send(WebClient.request(issuer + "/.well-known/openid-configuration"));
        JsonNode provider = WebClient.read(described.body());
        if (described.statusCode() == 404) {
            throw new CommandFailure(
                    ExitStatus.NOT_FOUND,
                    "there is no sign-in for tenant " + tenant + " at " + issuer + ". Check the name of the tenant");
        }
        if (described.statusCode() != 200 || !provider.path("issuer").asText().equals(issuer)) {
            throw new CommandFailure(
                    ExitStatus.UNAVAILABLE,
                    issuer + " does not describe itself as an OpenID provider (HTTP " + described.statusCode() + ")");
        }
        ENDPOINTS.forEach(
                endpoint -> requireEncryption(server, provider.path(endpoint).asText("")));
        return new RealmLogin(web, issuer, signIn.path("clientId").asText(), provider);
    }

    /** Asks the service where the tenant signs in, without a token. Fails if no answer comes. */
    static HttpResponse<String> requireAnswer(WebClient web, URI server, String tenant) {
        return web.send(WebClient.request(server + "/v1/sign-in/" + WebClient.encode(tenant))
                .header("Accept", "application/json"));
    }

    public String issuer() {
        return issuer;
    }

    /** Whether the sign-in crosses a network without encryption. */
    public boolean isUnencrypted() {
        return Stream.concat(Stream.of(issuer), ENDPOINTS.stream().map(endpoint -> provider.path(endpoint)
                        .asText("")))
                .filter(address -> !address.isEmpty())
                .anyMatch(address -> ServerContext.isUnencrypted(URI.create(address)));
    }

    /** Refuses an address that is not encrypted if the server is; an empty text is no address. */
    static void requireEncryption(URI server, String address) {
        boolean plain = !address.isEmpty() && !address.toLowerCase(Locale.ROOT).startsWith("https://");
        if (plain && "https".equalsIgnoreCase(server.getScheme())) {
            throw new CommandFailure(
                    ExitStatus.FAILED,
                    server + " is encrypted, but its sign-in is at " + address + ", which is not. Nothing was sent"
                            + " there; inform your operator");
        }
    }

    /**
     * Signs a person in with a code that is confirmed in a browser. Waits until then, or until the code expires.
     *
     * @param prompt shows the code to the person
     */
    public SavedLogin withDevice(Consumer<DeviceCode> prompt) {
        String endpoint = provider.path("device_authorization_endpoint").asText("");
        if (endpoint.isEmpty()) {
            throw new CommandFailure(ExitStatus.REFUSED, issuer + " offers no sign-in by device code");
        }
        JsonNode started = startDevice(endpoint);
        Duration validFor = Duration.ofSeconds(started.path("expires_in").asLong(600));
        @Nullable
        String complete = started.hasNonNull("verification_uri_complete")
                ? started.path("verification_uri_complete").asText()
                : null;
        prompt.accept(new DeviceCode(
                started.path("user_code").asText(),
                started.path("verification_uri").asText(),
                complete,
                validFor));
        Duration interval = started.has("interval")
                ? Duration.ofSeconds(started.path("interval").asLong())
                : DEFAULT_INTERVAL;
        return awaitConfirmation(started.path("device_code").asText(), interval, validFor);
    }

    private JsonNode startDevice(String endpoint) {
        HttpResponse<String> answer = post(endpoint, Map.of(CLIENT_ID, clientId, SCOPE, LASTING));
        if (error(answer).equals("invalid_scope")) {
            answer = post(endpoint, Map.of(CLIENT_ID, clientId, SCOPE, SESSION));
        }
        if (answer.statusCode() != 200) {
            throw refused(answer);
        }
        return WebClient.read(answer.body());
    }

    private SavedLogin awaitConfirmation(String deviceCode, Duration first, Duration validFor) {
        Duration interval = first;
        Instant end = Instant.now().plus(validFor);
        while (Instant.now().isBefore(end)) {
            pause(interval);
            Optional<HttpResponse<String>> polled = poll(deviceCode);
            if (polled.isEmpty()) {
                // RFC 8628, section 3.5: a client whose poll failed asks less often.
                interval = interval.multipliedBy(2).compareTo(SLOWEST) < 0 ? interval.multipliedBy(2) : SLOWEST;
                continue;
            }
            HttpResponse<String> answer = polled.get();
            switch (error(answer)) {
                case "authorization_pending" -> {}
                case "slow_down" -> interval = interval.plus(SLOWER);
                case "access_denied" ->
                    throw new CommandFailure(ExitStatus.NOT_SIGNED_IN, "the sign-in was refused in the browser");
                case "expired_token" -> throw expired();
                default -> {
                    return login(answer, null);
                }
            }
        }
        throw expired();
    }

    /** The answer to a question whether the code is confirmed; empty if the realm cannot answer now. */
    private Optional<HttpResponse<String>> poll(String deviceCode) {
        try {
            HttpResponse<String> answer = post(
                    tokenEndpoint(),
                    Map.of(
                            GRANT,
                            "urn:ietf:params:oauth:grant-type:device_code",
                            CLIENT_ID,
                            clientId,
                            "device_code",
                            deviceCode));
            return answer.statusCode() >= 500 || answer.statusCode() == 429 ? Optional.empty() : Optional.of(answer);
        } catch (CommandFailure e) {
            if (e.status() != ExitStatus.UNAVAILABLE) {
                throw e;
            }
            return Optional.empty();
        }
    }

    private static CommandFailure expired() {
        return new CommandFailure(
                ExitStatus.NOT_SIGNED_IN, "the code expired before it was confirmed. Run qm login again");
    }

    /** Signs a program in. It has no refresh token: the secret is kept instead. */
    public SavedLogin withSecret(String client, String secret) {
        HttpResponse<String> answer = post(
                tokenEndpoint(),
                Map.of(GRANT, "client_credentials", CLIENT_ID, client, CLIENT_SECRET, secret, SCOPE, SESSION));
        return login(client, answer, secret);
    }

    /** Signs a person in with a password, in a realm that accepts passwords from programs: a demonstration. */
    public SavedLogin withPassword(String username, String password) {
        Map<String, String> fields = new LinkedHashMap<>(
                Map.of(GRANT, "password", CLIENT_ID, clientId, "username", username, "password", password));
        fields.put(SCOPE, LASTING);
        HttpResponse<String> answer = post(tokenEndpoint(), fields);
        if (error(answer).equals("unauthorized_client")) {
            throw new CommandFailure(
                    ExitStatus.REFUSED,
                    "the realm takes no passwords from programs. Sign in with a browser: qm login without --user");
        }
        return login(answer, null);
    }

    /** A login whose access token is new; empty if the login has ended. */
    static Optional<SavedLogin> renew(WebClient web, SavedLogin login) {
        Map<String, String> fields = new LinkedHashMap<>();
        fields.put(CLIENT_ID, login.clientId());
        if (login.clientSecret() != null) {
            fields.put(GRANT, "client_credentials");
            fields.put(CLIENT_SECRET, login.clientSecret());
            fields.put(SCOPE, SESSION);
        } else if (login.refreshToken() != null) {
            fields.put(GRANT, "refresh_token");
            fields.put("refresh_token", login.refreshToken());
        } else {
            return Optional.empty();
        }
        HttpResponse<String> answer = post(web, login.tokenEndpoint(), fields);
        if (ENDED.contains(error(answer))) {
            return Optional.empty();
        }
        JsonNode body = WebClient.read(answer.body());
        if (answer.statusCode() != 200 || !body.hasNonNull("access_token")) {
            throw new CommandFailure(
                    ExitStatus.UNAVAILABLE,
                    login.issuer() + " cannot renew the login now (HTTP " + answer.statusCode() + ")");
        }
        return Optional.of(new SavedLogin(
                login.issuer(),
                login.tokenEndpoint(),
                login.endSessionEndpoint(),
                login.clientId(),
                login.clientSecret(),
                body.path("access_token").asText(),
                expiry(body),
                body.hasNonNull("refresh_token") ? body.path("refresh_token").asText() : login.refreshToken()));
    }

    /** Ends the login at the realm; a login that has ended already is no failure. */
    public static void end(WebClient web, SavedLogin login) {
        if (login.endSessionEndpoint() != null && login.refreshToken() != null) {
            post(
                    web,
                    login.endSessionEndpoint(),
                    Map.of(CLIENT_ID, login.clientId(), "refresh_token", login.refreshToken()));
        }
    }

    private SavedLogin login(HttpResponse<String> answer, @Nullable String secret) {
        return login(clientId, answer, secret);
    }

    private SavedLogin login(String client, HttpResponse<String> answer, @Nullable String secret) {
        JsonNode body = WebClient.read(answer.body());
        if (answer.statusCode() != 200 || !body.hasNonNull("access_token")) {
            throw refused(answer);
        }
        return new SavedLogin(
                issuer,
                tokenEndpoint(),
                provider.hasNonNull("end_session_endpoint")
                        ? provider.path("end_session_endpoint").asText()
                        : null,
                client,
                secret,
                body.path("access_token").asText(),
                expiry(body),
                secret == null && body.hasNonNull("refresh_token")
                        ? body.path("refresh_token").asText()
                        : null);
    }

    private static long expiry(JsonNode body) {
        return Instant.now().getEpochSecond() + body.path("expires_in").asLong();
    }

    private String tokenEndpoint() {
        return provider.path("token_endpoint").asText();
    }

    private CommandFailure refused(HttpResponse<String> answer) {
        JsonNode body = WebClient.read(answer.body());
        String why = body.path("error_description").asText(body.path("error").asText("HTTP " + answer.statusCode()));
        return new CommandFailure(
                answer.statusCode() >= 500 ? ExitStatus.UNAVAILABLE : ExitStatus.NOT_SIGNED_IN,
                issuer + " refused the sign-in: " + why);
    }

    private static String error(HttpResponse<String> answer) {
        return answer.statusCode() == 200
                ? ""
                : WebClient.read(answer.body()).path("error").asText("");
    }

    private HttpResponse<String> post(String endpoint, Map<String, String> fields) {
        return post(web, endpoint, fields);
    }

    private static HttpResponse<String> post(WebClient web, String endpoint, Map<String, String> fields) {
        return web.send(WebClient.request(endpoint)
                .header("Content-Type", "application/x-www-form-urlencoded")
                .header("Accept", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(WebClient.form(fields))));
    }

    private static void pause(Duration length) {
        try {
            Thread.sleep(length);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandFailure(ExitStatus.FAILED, "interrupted");
        }
    }
}
