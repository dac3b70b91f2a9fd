package io.quartermaster.platform.writes;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The answer to a write, as it is sent and as it is stored for a repeated {@code Idempotency-Key}. */
public record WriteReply(int status, @Nullable Object body, Map<String, String> headers) {

    public WriteReply {
        headers = Map.copyOf(headers);
    }

    public static WriteReply ok(Object body) {
        return new WriteReply(200, body, Map.of());
    }

    public static WriteReply ok(Object body, long version) {
        return new WriteReply(200, body, Map.of("ETag", WriteParams.etag(version)));
    }

    public static WriteReply created(String location, Object body) {
        return new WriteReply(201, body, Map.of("Location", location));
    }

    public static WriteReply created(String location, Object body, long version) {
        return new WriteReply(201, body, Map.of("Location", location, "ETag", WriteParams.etag(version)));
    }

    /** 202: long-running work; the body is its operation. */
    public static WriteReply accepted(String location, Object body) {
        return new WriteReply(202, body, Map.of("Location", location));
    }

    public static WriteReply noContent() {
        return new WriteReply(204, null, Map.of());
    }
}
