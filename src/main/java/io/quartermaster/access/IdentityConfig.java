package io.quartermaster.access;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;

/** The source of identities: Keycloak and the checks of its tokens. */
@ConfigMapping(prefix = "quartermaster.identity")
public interface IdentityConfig {

    /** URL under which this service reaches Keycloak. */
    @WithDefault("http://127.0.0.1:8180")
    URI keycloakUrl();

    /** URL that Keycloak writes into tokens ({@code iss}), if it differs, for example behind a proxy. */
    Optional<URI> issuerUrl();

    /** The client of Keycloak's master realm with which the service creates realms. */
    @WithDefault("admin-cli")
    String adminClientId();

    /**
     * Secret of that client. With it, the service uses the client's service account, which needs the role
     * {@code create-realm}. Without it, the service uses the administrator's username and password.
     */
    Optional<String> adminClientSecret();

    /**
     * A user of Keycloak's master realm, used if {@code quartermaster.identity.admin-client-secret} is not set.
     */
    @WithDefault("admin")
    String adminUsername();

    /** Password of the user {@code quartermaster.identity.admin-username}. */
    Optional<String> adminPassword();

    /** Time limit of a call to Keycloak's administration. The creation of a realm takes seconds on a busy machine. */
    @WithDefault("45s")
    Duration adminTimeout();

    /** Time limit for opening a connection to Keycloak. */
    @WithDefault("5s")
    Duration connectTimeout();

    /** Time limit for fetching a realm's keys from Keycloak. After it, the request that needs the keys gets 503. */
    @WithDefault("5s")
    Duration keyFetchTimeout();

    /**
     * How often the service fetches the keys of realms in use again. A key that was removed from a realm stays valid
     * here for this long at most.
     */
    @WithDefault("1m")
    Duration keyRefresh();

    /**
     * Shortest interval between two fetches of one realm's keys that tokens with an unknown key cause. So a realm's new
     * key is valid here after this time at the latest, whatever other tokens arrive.
     */
    @WithDefault("5s")
    Duration unknownKeyRefresh();

    /**
     * How often the service reads the disabled users of the realms in use from Keycloak. Their tokens are refused after
     * this time at the latest, and the time that Keycloak takes to answer.
     */
    @WithDefault("30s")
    Duration disabledUserCheck();

    /** Audience that access tokens must have. */
    @WithDefault("quartermaster")
    String audience();

    /**
     * How often the service reads the list of tenants again. A suspension on another replica takes effect here after
     * this time at the latest.
     */
    @WithDefault("5s")
    Duration issuerRefresh();

    default String issuerOf(String realm) {
        return strip(issuerUrl().orElse(keycloakUrl())) + "/realms/" + realm;
    }

    default String serverUrlOf(String realm) {
        return serverUrl() + "/realms/" + realm;
    }

    /** {@link #keycloakUrl} without a slash at the end. */
    default String serverUrl() {
        return strip(keycloakUrl());
    }

    private static String strip(URI uri) {
        String text = uri.toString();
        return text.endsWith("/") ? text.substring(0, text.length() - 1) : text;
    }
}
