package io.quartermaster.platform.filters;

import io.netty.util.NetUtil;
import io.quarkus.vertx.http.runtime.filters.Filters;
import io.quartermaster.platform.http.Problem;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.http.ProblemWriter;
import io.vertx.core.net.SocketAddress;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/**
 * Limits the rate of requests from an address, a tenant and an agent to this replica. A request counts for its address
 * until its token is verified, and then for the token's realm or the agent's node. So a caller without a token cannot
 * use up the rate of a tenant. Nor do a tenant's users behind one address use up the rate of that address.
 *
 * <p>Each replica counts for itself: several replicas accept several times as much. Redis is not called, so a flood
 * costs memory and time here only.
 */
@Singleton
public class RequestRateLimiter {

    /** Only known realms and nodes are counted; this limit bounds the memory. */
    private static final int MAX_KNOWN_KEYS = 100_000;

    private static final int IPV6_BYTES = 16;
    private static final int IPV6_NETWORK_BYTES = 8;
    private static final Duration RETRY_AFTER = Duration.ofSeconds(1);
    private static final String ADDRESS = RequestRateLimiter.class.getName();

    private final ProblemWriter problems;
    private final RateLimiter<String> addresses;
    private final RateLimiter<String> realms;
    private final RateLimiter<String> nodes;

    RequestRateLimiter(HttpConfig config, ProblemWriter problems) {
        this.problems = problems;
        this.addresses =
                new RateLimiter<>(config.addressRequestsPerSecond(), config.addressBurst(), config.addressesLimit());
        this.realms = new RateLimiter<>(config.tenantRequestsPerSecond(), config.tenantBurst(), MAX_KNOWN_KEYS);
        this.nodes = new RateLimiter<>(config.nodeRequestsPerSecond(), config.nodeBurst(), MAX_KNOWN_KEYS);
    }

    void register(@Observes Filters filters) {
        filters.register(this::count, FilterPriorities.RATES);
    }

    private void count(RoutingContext request) {
        String address = network(request.request().remoteAddress());
        if (addresses.tryAcquire(address)) {
            request.put(ADDRESS, address);
            request.next();
        } else {
            request.response().putHeader("Retry-After", Long.toString(RETRY_AFTER.toSeconds()));
            problems.end(
                    request,
                    tooMany("Too many requests without a valid token came from this address. Wait, and send a "
                            + "valid token."));
        }
    }

    /**
     * Counts a request with a verified token for its caller, and no longer for its address. Fails with 429 when the
     * caller's realm or node has sent too many.
     *
     * @param realm the realm of the token
     * @param node the node whose agent calls, if one does
     */
    public void countVerified(RoutingContext request, String realm, Optional<String> node) {
        String address = request.remove(ADDRESS);
        if (address != null) {
            addresses.release(address);
        }
        boolean acquired = node.isPresent() ? nodes.tryAcquire(node.get()) : realms.tryAcquire(realm);
        if (!acquired) {
            throw new ProblemException(tooMany(
                    node.isPresent()
                            ? "The agent of node " + node.get() + " sends too many requests. Wait before the next one."
                            : "Realm " + realm + " sends too many requests. Wait before the next one."));
        }
    }

    private static Problem tooMany(String detail) {
        return Problem.of(429, "too-many-requests", detail, List.of());
    }

    /** An IPv4 address, or the first 64 bits of an IPv6 address, the smallest block that a site receives. */
    static String network(SocketAddress remote) {
        String host = remote == null || remote.hostAddress() == null ? "" : remote.hostAddress();
        byte[] bytes = NetUtil.createByteArrayFromIpAddressString(host);
        return bytes == null || bytes.length != IPV6_BYTES
                ? host
                : HexFormat.of().formatHex(Arrays.copyOf(bytes, IPV6_NETWORK_BYTES));
    }

    /** Uses up the burst of an address. */
    public void drain(SocketAddress remote) {
        addresses.drain(network(remote));
    }

    /** Gives an address its full burst again. */
    public void reset(SocketAddress remote) {
        addresses.reset(network(remote));
    }

    /** Uses up the burst of a realm. */
    void drainRealm(String realm) {
        realms.drain(realm);
    }
}
