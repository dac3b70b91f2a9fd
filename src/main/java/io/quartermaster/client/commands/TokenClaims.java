package io.quartermaster.client.commands;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.quartermaster.client.output.DocumentWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.stream.StreamSupport;

/** The claims of an access token, for display. The service alone verifies tokens. */
public final class TokenClaims {

    private TokenClaims() {}

    /** The claims; a missing node for a token of another form. */
    public static JsonNode of(String token) {
        String[] parts = token.split("\\.", -1);
        if (parts.length != 3) {
            return MissingNode.getInstance();
        }
        try {
            return DocumentWriter.JSON.readTree(
                    new String(Base64.getUrlDecoder().decode(parts[1]), StandardCharsets.UTF_8));
        } catch (IOException | IllegalArgumentException e) {
            return MissingNode.getInstance();
        }
    }

    public static String username(JsonNode claims) {
        return claims.path("preferred_username").asText("unknown");
    }

    /** The groups of the caller, as paths; empty if the token states none. */
    public static Optional<List<String>> groups(JsonNode claims) {
        return claims.has("groups") ? Optional.of(texts(claims.path("groups"))) : Optional.empty();
    }

    /** The roles of the realm, without Keycloak's own. */
    public static List<String> roles(JsonNode claims) {
        return texts(claims.path("realm_access").path("roles")).stream()
                .filter(role -> !role.startsWith("default-roles-")
                        && !role.equals("offline_access")
                        && !role.equals("uma_authorization"))
                .sorted()
                .toList();
    }

    private static List<String> texts(JsonNode array) {
        return StreamSupport.stream(array.spliterator(), false)
                .map(JsonNode::asText)
                .toList();
    }
}
