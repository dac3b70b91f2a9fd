package io.quartermaster.platform.filters;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/** Limits on the requests that one replica accepts. */
@ConfigMapping(prefix = "quartermaster.http")
public interface HttpConfig {

    /**
     * Host names, besides {@code localhost} and loopback addresses, that requests may name while the API listens on a
     * loopback address only. List here the names behind a reverse proxy on the same machine that forwards the
     * {@code Host} of its callers. {@code *} accepts every name. Requests with another name are refused.
     */
    Optional<Set<String>> allowedHosts();

    /**
     * Sustained rate of requests without a valid token per second and address; the service answers requests beyond it
     * with 429. Requests with a valid token do not count here. An IPv6 address counts by its first 64 bits.
     */
    @WithDefault("50")
    int addressRequestsPerSecond();

    /** Requests that one address may send in a burst, before their tokens are verified. */
    @WithDefault("1000")
    int addressBurst();

    /**
     * Addresses whose requests a replica counts at one time. Beyond this number, it forgets the counts of the addresses
     * that were silent longest.
     */
    @WithDefault("20000")
    int addressesLimit();

    /**
     * Sustained rate of requests with valid tokens per second and tenant, or from the operator's realm; the service
     * answers requests beyond it with 429.
     */
    @WithDefault("1000")
    int tenantRequestsPerSecond();

    /** Requests with valid tokens that one tenant, or the operator's realm, may send in a burst. */
    @WithDefault("5000")
    int tenantBurst();

    /**
     * Sustained rate of requests per second from the agent of one node; the service answers requests beyond it with
     * 429. They count for no tenant.
     */
    @WithDefault("20")
    int nodeRequestsPerSecond();

    /** Requests that the agent of one node may send in a burst. */
    @WithDefault("200")
    int nodeBurst();

    /** How long the body of a request may take to arrive. After that, the service closes the connection. */
    @WithDefault("60s")
    Duration bodyTimeout();
}
