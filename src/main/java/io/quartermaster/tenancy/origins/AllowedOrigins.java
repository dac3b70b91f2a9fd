package io.quartermaster.tenancy.origins;

import io.quartermaster.platform.http.ProblemException;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/**
 * The origins whose pages may call the API for a tenant.
 *
 * @param version 0 if the tenant never set any
 */
public record AllowedOrigins(
        @Schema(description = "origins as browsers write them, such as `https://portal.example.com`")
        List<String> origins,

        long version) {

    static final int MAX_ORIGINS = 20;
    private static final int MAX_LENGTH = 255;
    private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");
    private static final String ACCEPTED =
            "an origin such as https://portal.example.com: https (http for this machine itself), a host in lower "
                    + "case, a port only if it is not the default, and nothing after it";

    /** A request that replaces the origins. */
    @Schema(name = "AllowedOriginsRequest")
    public record Request(
            @Schema(
                    required = true,
                    maxItems = MAX_ORIGINS,
                    description = "all origins that may call from now on; an empty list allows none")
            @Nullable
            List<@Nullable String> origins) {}

    public AllowedOrigins {
        origins = List.copyOf(origins);
    }

    /** The origins of a request, sorted and without duplicates. */
    static List<String> validate(@Nullable Request request) {
        if (request == null || request.origins() == null) {
            throw ProblemException.invalid("origins", "the list is missing", "a list of origins, which may be empty");
        }
        var invalid = new ProblemException.Invalid()
                .check(
                        request.origins().size() <= MAX_ORIGINS,
                        "origins",
                        "there are " + request.origins().size(),
                        "at most " + MAX_ORIGINS);
        var origins = new TreeSet<String>();
        for (int i = 0; i < Math.min(request.origins().size(), MAX_ORIGINS); i++) {
            String origin = request.origins().get(i);
            if (origin == null || !isOrigin(origin)) {
                invalid.add("origins[" + i + "]", "not an origin that may be allowed", ACCEPTED);
            } else {
                origins.add(origin);
            }
        }
        invalid.throwIfAny();
        return List.copyOf(origins);
    }

    /**
     * Whether a text is an origin exactly as browsers write it, since the comparison is literal. There are no
     * wildcards: each origin is stated.
     */
    static boolean isOrigin(String text) {
        try {
            URI uri = new URI(text);
            String host = uri.getHost();
            if (text.length() > MAX_LENGTH || host == null || uri.getScheme() == null) {
                return false;
            }
            boolean isSecure = uri.getScheme().equals("https") && uri.getPort() != 443;
            boolean isLocal = uri.getScheme().equals("http") && uri.getPort() != 80 && LOOPBACK.contains(host);
            String written = uri.getScheme() + "://" + host.toLowerCase(Locale.ROOT)
                    + (uri.getPort() < 0 ? "" : ":" + uri.getPort());
            return (isSecure || isLocal) && written.equals(text);
        } catch (URISyntaxException e) {
            return false;
        }
    }
}
