package io.quartermaster.platform.writes;

import io.quartermaster.platform.Fingerprint;
import io.quartermaster.platform.db.WriteMode;
import io.quartermaster.platform.http.ProblemException;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.Request;
import jakarta.ws.rs.core.UriInfo;
import java.net.URI;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.jspecify.annotations.Nullable;

/**
 * The parameters that every write of the API takes beside its body: {@code Idempotency-Key}, {@code If-Match} and
 * {@code dryRun}.
 */
public final class WriteParams {

    static final int MAX_KEY_LENGTH = 255;
    private static final String IDEMPOTENCY_KEY = "Idempotency-Key";
    private static final Pattern ETAG = Pattern.compile("\"(\\d{1,18})\"");

    @HeaderParam(IDEMPOTENCY_KEY)
    @Parameter(
            description =
                    "A text of your choice that names this request. The same request with the same key is carried "
                            + "out once; the service repeats its first answer.",
            schema = @Schema(type = SchemaType.STRING, minLength = 1, maxLength = MAX_KEY_LENGTH))
    @Nullable
    String idempotencyKey;

    @HeaderParam("If-Match")
    @Parameter(
            description =
                    "The `ETag` of the version that the change is based on, with its quotation marks. The service "
                            + "refuses the change if the resource has another version by now.",
            example = "\"3\"",
            schema = @Schema(type = SchemaType.STRING, pattern = "^ *\"[0-9]{1,18}\" *$"))
    @Nullable
    String ifMatch;

    @QueryParam("dryRun")
    @Parameter(
            description = "`true`: the service makes all checks and changes nothing. The answer is 200 with a DryRun, "
                    + "or the problem of the write.",
            schema = @Schema(type = SchemaType.BOOLEAN, defaultValue = "false"))
    boolean dryRun;

    @Context
    @Nullable
    Request request;

    @Context
    @Nullable
    HttpHeaders headers;

    public WriteMode mode() {
        requireUsableKey();
        return dryRun ? WriteMode.DRY_RUN : WriteMode.COMMIT;
    }

    /** A dry run leaves nothing behind, so it neither stores nor replays an answer. */
    public Optional<String> key() {
        requireUsableKey();
        return dryRun ? Optional.empty() : Optional.ofNullable(idempotencyKey);
    }

    /** Refuses an unusable key. For a header that is present and empty, the framework provides no value. */
    private void requireUsableKey() {
        boolean isGiven = idempotencyKey != null || headers != null && headers.getHeaderString(IDEMPOTENCY_KEY) != null;
        String key = idempotencyKey == null ? "" : idempotencyKey;
        if (isGiven && (key.isBlank() || key.length() > MAX_KEY_LENGTH)) {
            throw ProblemException.invalid(
                    IDEMPOTENCY_KEY, "the key is empty or too long", "1 to " + MAX_KEY_LENGTH + " characters");
        }
    }

    /**
     * The fingerprint of a request: its method, path, query, precondition and body. A repeated key must come with the
     * same one.
     */
    String fingerprint(UriInfo uri, String body) {
        return fingerprint(
                Objects.requireNonNull(request, "keys come with requests").getMethod(),
                uri.getRequestUri(),
                ifMatch,
                body);
    }

    static String fingerprint(String method, URI uri, @Nullable String ifMatch, String body) {
        String query = uri.getRawQuery();
        return Fingerprint.of(
                method, uri.getRawPath(), query == null ? "" : query, ifMatch == null ? "" : ifMatch, body);
    }

    /**
     * The version that an update is based on: 428 when the header is absent, 400 when it is not an ETag of this
     * service.
     */
    public long expectedVersion() {
        return givenVersion()
                .orElseThrow(() -> ProblemException.of(
                        428,
                        "precondition-required",
                        "If-Match is missing: an update names the version that it is based on. Read the "
                                + "resource with GET, and send its ETag, such as If-Match: \"3\""));
    }

    public OptionalLong givenVersion() {
        if (ifMatch == null) {
            return OptionalLong.empty();
        }
        Matcher matcher = ETAG.matcher(ifMatch.strip());
        if (!matcher.matches()) {
            throw ProblemException.invalid(
                    "If-Match", "not an ETag of this service", "the ETag of a GET, such as \"3\"");
        }
        return OptionalLong.of(Long.parseLong(matcher.group(1)));
    }

    /** Throws 412 when the resource has changed since the caller read it. */
    public void requireVersion(long current) {
        if (expectedVersion() != current) {
            throw ProblemException.of(
                    412, "precondition-failed", "the resource was changed meanwhile: its ETag is now " + etag(current));
        }
    }

    public static String etag(long version) {
        return "\"" + version + "\"";
    }
}
