package io.quartermaster.client.connection;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * An answer of the service.
 *
 * @param body the JSON of the answer; a text node for plain text, a missing node for none
 * @param etag the version of the resource, in quotation marks
 * @param requestId the id under which the service logs the request
 */
public record ServiceReply(
        int status,
        JsonNode body,
        Optional<String> etag,
        @Nullable String requestId) {

    public boolean isOk() {
        return status >= 200 && status < 300;
    }

    /** The code of the problem, such as {@code queue-full}; empty for other answers. */
    public String code() {
        return body.path("code").asText("");
    }
}
