package io.quartermaster.client.settings;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A login: the tokens of a person, or the credentials of a program.
 *
 * @param tokenEndpoint where the tokens are renewed
 * @param endSessionEndpoint where the login ends; null if the issuer names none
 * @param clientId the client of the realm that the tokens are for
 * @param clientSecret the secret of a program's client; null for people
 * @param expiresAt end of the access token, in seconds since the epoch
 * @param refreshToken null for programs, which sign in again with their secret
 */
public record SavedLogin(
        String issuer,
        String tokenEndpoint,
        @Nullable String endSessionEndpoint,
        String clientId,
        @Nullable String clientSecret,
        String accessToken,
        long expiresAt,
        @Nullable String refreshToken) {

    /** Whether the access token is valid until this moment. */
    public boolean isValidAt(Instant moment) {
        return moment.getEpochSecond() < expiresAt;
    }

    /** Fails if a part is missing. */
    static SavedLogin of(JsonNode node) {
        return new SavedLogin(
                required(node, "issuer"),
                required(node, "tokenEndpoint"),
                optional(node, "endSessionEndpoint"),
                required(node, "clientId"),
                optional(node, "clientSecret"),
                required(node, "accessToken"),
                node.path("expiresAt").asLong(),
                optional(node, "refreshToken"));
    }

    private static String required(JsonNode node, String field) {
        if (!node.hasNonNull(field)) {
            throw new IllegalArgumentException("the login has no " + field);
        }
        return node.path(field).asText();
    }

    private static @Nullable String optional(JsonNode node, String field) {
        return node.hasNonNull(field) ? node.path(field).asText() : null;
    }

    ObjectNode toJson() {
        ObjectNode node = JsonNodeFactory.instance
                .objectNode()
                .put("issuer", issuer)
                .put("tokenEndpoint", tokenEndpoint)
                .put("clientId", clientId)
                .put("accessToken", accessToken)
                .put("expiresAt", expiresAt);
        putIfPresent(node, "endSessionEndpoint", endSessionEndpoint);
        putIfPresent(node, "clientSecret", clientSecret);
        putIfPresent(node, "refreshToken", refreshToken);
        return node;
    }

    private static void putIfPresent(ObjectNode node, String field, @Nullable String value) {
        if (value != null) {
            node.put(field, value);
        }
    }

    @Override
    public String toString() {
        return "login of client " + clientId + " at " + issuer;
    }
}
