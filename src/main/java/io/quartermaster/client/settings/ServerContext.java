package io.quartermaster.client.settings;

import java.net.URI;
import java.util.regex.Pattern;

/** A server and a tenant, under a name of the person's choice. */
public record ServerContext(String name, URI server, String tenant) {

    public static final String ACCEPTED_TENANT =
            "3 to 40 characters: a lower-case letter first, then lower-case letters, digits and hyphens, no hyphen last";

    private static final Pattern TENANT = Pattern.compile("[a-z][a-z0-9-]{1,38}[a-z0-9]");

    public ServerContext {
        server = server(server.toString());
        if (!TENANT.matcher(tenant).matches()) {
            throw new IllegalArgumentException(
                    "\"" + tenant + "\" is not the name of a tenant; accepted: " + ACCEPTED_TENANT);
        }
    }

    /** The address of a server, without a slash at its end. Fails with a message if it is none. */
    public static URI server(String text) {
        String address = text.endsWith("/") ? text.substring(0, text.length() - 1) : text;
        try {
            URI uri = URI.create(address);
            boolean web = "https".equals(uri.getScheme()) || "http".equals(uri.getScheme());
            if (web && uri.getHost() != null && uri.getQuery() == null && uri.getFragment() == null) {
                return uri;
            }
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(refusal(text), e);
        }
        throw new IllegalArgumentException(refusal(text));
    }

    private static String refusal(String text) {
        return "\"" + text + "\" is not the address of a server; accepted: an address such as https://qm.example.org";
    }

    /** Whether tokens cross a network without encryption. */
    public boolean isUnencrypted() {
        return isUnencrypted(server);
    }

    /** Whether what is sent to an address crosses a network without encryption. */
    public static boolean isUnencrypted(URI address) {
        String host = String.valueOf(address.getHost());
        boolean here = host.equals("localhost") || host.matches("127(\\.[0-9]{1,3}){3}") || host.equals("[::1]");
        return !"https".equalsIgnoreCase(address.getScheme()) && !here;
    }
}
