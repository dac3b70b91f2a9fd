package io.quartermaster.platform.http;

import io.quartermaster.platform.Fingerprint;
import jakarta.ws.rs.QueryParam;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Optional;
import java.util.UUID;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.jspecify.annotations.Nullable;

/**
 * The page of a list that a request asks for. A page token is bound to its list (tenant, route and filters), so another
 * list refuses it.
 */
public final class PageRequest {

    public static final int DEFAULT_SIZE = 50;
    public static final int MAX_SIZE = 500;

    @QueryParam("pageSize")
    @Parameter(
            description = "The most items that the answer holds.",
            schema =
                    @Schema(
                            type = SchemaType.INTEGER,
                            format = "int32",
                            minimum = "1",
                            maximum = "500",
                            defaultValue = "50"))
    @Nullable
    String pageSize;

    @QueryParam("pageToken")
    @Parameter(description = "The `nextPageToken` of the previous page, with the same filters; absent: the first page.")
    @Nullable
    String pageToken;

    /** @throws ProblemException when the size is not one from 1 to {@link #MAX_SIZE} */
    public int size() {
        if (pageSize == null) {
            return DEFAULT_SIZE;
        }
        try {
            int size = Integer.parseInt(pageSize);
            if (size >= 1 && size <= MAX_SIZE) {
                return size;
            }
        } catch (NumberFormatException e) {
            // falls through to the refusal below
        }
        throw ProblemException.invalid("pageSize", "\"" + pageSize + "\" is not accepted", "1 to " + MAX_SIZE);
    }

    /** The key after which this page begins. {@code scope} must be the text with which the token was made. */
    public Optional<String> after(String scope) {
        if (pageToken == null || pageToken.isEmpty()) {
            return Optional.empty();
        }
        try {
            String text = new String(Base64.getUrlDecoder().decode(pageToken), StandardCharsets.UTF_8);
            int cut = text.indexOf('\n');
            String key = text.substring(cut + 1);
            if (cut > 0 && text.substring(0, cut).equals(fingerprint(scope)) && PrintableText.isPrintable(key)) {
                return Optional.of(key);
            }
        } catch (IllegalArgumentException e) {
            // falls through to the refusal below
        }
        throw invalid();
    }

    /** As {@link #after}, for lists that are ordered by ids. */
    public Optional<UUID> afterId(String scope) {
        return after(scope).map(PageRequest::id);
    }

    private static UUID id(String key) {
        try {
            return UUID.fromString(key);
        } catch (IllegalArgumentException e) {
            throw invalid();
        }
    }

    private static ProblemException invalid() {
        return ProblemException.invalid(
                "pageToken",
                "not a token of this list",
                "the nextPageToken of the previous page, with the same filters");
    }

    static String token(String scope, String lastKey) {
        byte[] text = (fingerprint(scope) + "\n" + lastKey).getBytes(StandardCharsets.UTF_8);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(text);
    }

    private static String fingerprint(String scope) {
        return Fingerprint.of(scope).substring(0, 16);
    }
}
