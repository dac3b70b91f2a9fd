package io.quartermaster.access;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;

/** Where identities come from. */
@ConfigMapping(prefix = "quartermaster.identity")
public interface IdentityConfig {

    /** Keycloak as this service reaches it. */
    @WithDefault("http://127.0.0.1:8180")
    URI keycloakUrl();

    /** Keycloak as it writes itself into tokens ({@code iss}), when that differs: behind a proxy, say. */
    Optional<URI> issuerUrl();

    /** The client of Keycloak's master realm through which realms are made. */
    @WithDefault("admin-cli")
    String adminClientId();

    /** With it the service account of that client is used, which needs the role {@code create-realm}; else the user below. */
    Optional<String> adminClientSecret();

    /** A user of Keycloak's master realm, used where {@link #adminClientSecret} is not given. */
    @WithDefault("admin")
    String adminUsername();

    /** That user's password. */
    Optional<String> adminPassword();

    /** A call to Keycloak's administration that takes longer has failed. Making a realm takes seconds on a busy machine. */
    @WithDefault("45s")
    Duration adminTimeout();

    /** A connection to Keycloak that takes longer than this to be made has failed. */
    @WithDefault("5s")
    Duration connectTimeout();

    /** A fetch of a realm's keys that Keycloak does not answer in this time has failed; the request that needed them gets 503. */
    @WithDefault("5s")
    Duration keyFetchTimeout();

    /** How often the keys of realms whose tokens come in are fetched again: a key that was removed from a realm counts no longer than this. */
    @WithDefault("1m")
    Duration keyRefresh();

    /**
     * At most this often the keys of one realm are fetched because a token names a key that is not known. So a key that a realm has just
     * begun to use counts after this time at the latest, whatever else is sent.
     */
    @WithDefault("5s")
    Duration unknownKeyRefresh();

    /** Access tokens must be made for this audience. */
    @WithDefault("quartermaster")
    String audience();

    /** After this long at the latest a tenant that another replica suspended can only read here too. */
    @WithDefault("5s")
    Duration issuerRefresh();

    default String issuerOf(String realm) {
        return strip(issuerUrl().orElse(keycloakUrl())) + "/realms/" + realm;
    }

    default String serverUrlOf(String realm) {
        return serverUrl() + "/realms/" + realm;
    }

    /** Keycloak as this service reaches it, without a slash at the end. */
    default String serverUrl() {
        return strip(keycloakUrl());
    }

    private static String strip(URI uri) {
        String text = uri.toString();
        return text.endsWith("/") ? text.substring(0, text.length() - 1) : text;
    }
}
