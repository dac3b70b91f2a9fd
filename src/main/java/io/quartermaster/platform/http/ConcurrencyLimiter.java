package io.quartermaster.platform.http;

import io.quartermaster.platform.TenantId;
import io.smallrye.mutiny.Uni;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Limits how many pieces of costly work a replica runs at a time: in total, and for each tenant, so that one tenant
 * cannot take all places. The operator counts as one more tenant.
 */
public final class ConcurrencyLimiter {

    private final String work;
    private final int maxPermits;
    private final int maxPermitsPerTenant;

    // Guarded by this.
    private final Map<Optional<TenantId>, Integer> permitsByCaller = new HashMap<>();
    private int permitsInUse;

    /** @param work the name of the work, in the plural, such as {@code simulations} */
    public ConcurrencyLimiter(String work, int maxPermits, int maxPermitsPerTenant) {
        this.work = work;
        this.maxPermits = maxPermits;
        this.maxPermitsPerTenant = maxPermitsPerTenant;
    }

    /**
     * Runs the work and releases its place when it ends, with or without a failure. Fails with 429 when the caller has
     * all the places that it may have, with 503 when all places are taken.
     *
     * @param caller empty: the operator
     */
    public <T> Uni<T> runLimited(Optional<TenantId> caller, Supplier<Uni<T>> work) {
        return Uni.createFrom().deferred(() -> {
            acquirePermit(caller);
            return Uni.createFrom().deferred(work::get).onTermination().invoke(() -> releasePermit(caller));
        });
    }

    /** The number of places that are taken. */
    public synchronized int permitsInUse() {
        return permitsInUse;
    }

    private synchronized void acquirePermit(Optional<TenantId> caller) {
        int own = permitsByCaller.getOrDefault(caller, 0);
        if (own >= maxPermitsPerTenant) {
            throw ProblemException.of(
                    429,
                    "too-many-" + work,
                    "the limit of " + work + " that this replica runs for "
                            + (caller.isPresent() ? "one tenant" : "operators") + " at a time is reached ("
                            + maxPermitsPerTenant
                            + "); send the request again when one of them has ended");
        }
        if (permitsInUse >= maxPermits) {
            throw ProblemException.of(
                    503,
                    "busy",
                    "the limit of " + work + " that this replica runs for all tenants at a time is reached ("
                            + maxPermits + "); send the request again in a few seconds");
        }
        permitsByCaller.put(caller, own + 1);
        permitsInUse++;
    }

    private synchronized void releasePermit(Optional<TenantId> caller) {
        permitsInUse--;
        permitsByCaller.computeIfPresent(caller, (same, own) -> own == 1 ? null : own - 1);
    }
}
