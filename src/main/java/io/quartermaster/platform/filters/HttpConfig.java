package io.quartermaster.platform.filters;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/** Limits on the requests that one replica takes. */
@ConfigMapping(prefix = "quartermaster.http")
public interface HttpConfig {

    /**
     * Host names, besides {@code localhost} and loopback addresses, by which requests may call the API while it listens on a loopback address only: those of a
     * reverse proxy on the same machine that passes on the {@code Host} of its callers. {@code *} accepts every name. Requests by another name are refused.
     */
    Optional<Set<String>> allowedHosts();

    /**
     * Requests without a valid token that one address may send each second in the long run; more are answered 429. Requests with a valid token do not count
     * here. An IPv6 address counts by its first 64 bits.
     */
    @WithDefault("50")
    int addressRequestsPerSecond();

    /** Requests that one address may send at once, before their tokens are verified. */
    @WithDefault("1000")
    int addressBurst();

    /** Addresses that a replica counts for at one time; beyond, those that were silent longest begin from the start. */
    @WithDefault("20000")
    int addressesLimit();

    /** Requests with valid tokens that one tenant, or the operator's realm, may send each second in the long run; more are answered 429. */
    @WithDefault("1000")
    int tenantRequestsPerSecond();

    /** Requests with valid tokens that one tenant, or the operator's realm, may send at once. */
    @WithDefault("5000")
    int tenantBurst();

    /** Requests that the agent of one node may send each second in the long run; more are answered 429. They count for no tenant. */
    @WithDefault("20")
    int nodeRequestsPerSecond();

    /** Requests that the agent of one node may send at once. */
    @WithDefault("200")
    int nodeBurst();

    /** How long the body of a request may take to arrive; then the connection is closed. */
    @WithDefault("60s")
    Duration bodyTimeout();
}
