package io.quartermaster.platform.writes;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The answer to a write, as it is sent and as it is kept for a repeated {@code Idempotency-Key}. */
public record Reply(int status, @Nullable Object body, Map<String, String> headers) {

    public Reply {
        headers = Map.copyOf(headers);
    }

    public static Reply ok(Object body) {
        return new Reply(200, body, Map.of());
    }

    public static Reply ok(Object body, long version) {
        return new Reply(200, body, Map.of("ETag", WriteParams.etag(version)));
    }

    public static Reply created(String location, Object body) {
        return new Reply(201, body, Map.of("Location", location));
    }

    public static Reply created(String location, Object body, long version) {
        return new Reply(201, body, Map.of("Location", location, "ETag", WriteParams.etag(version)));
    }

    /** 202: long work; the body is its operation. */
    public static Reply accepted(String location, Object body) {
        return new Reply(202, body, Map.of("Location", location));
    }

    public static Reply noContent() {
        return new Reply(204, null, Map.of());
    }
}
