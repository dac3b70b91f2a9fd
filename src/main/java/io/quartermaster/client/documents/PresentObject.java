package io.quartermaster.client.documents;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * An object as the service has it.
 *
 * @param fields its fields
 */
public record PresentObject(JsonNode fields) {

    /** The value of {@code If-Match} for a change of this version. */
    String etag() {
        return "\"" + fields.path("version").asText() + "\"";
    }
}
