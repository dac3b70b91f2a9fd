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
    private final int inAll;
    private final int perTenant;

    // Guarded by this.
    private final Map<Optional<TenantId>, Integer> taken = new HashMap<>();
    private int takenInAll;

    /** @param work the name of the work, in the plural, such as {@code simulations} */
    public ConcurrencyLimiter(String work, int inAll, int perTenant) {
        this.work = work;
        this.inAll = inAll;
        this.perTenant = perTenant;
    }

    /**
     * Runs the work and releases its place when it ends, with or without a failure. Fails with 429 when the caller has
     * all the places that it may have, with 503 when all places are taken.
     *
     * @param caller empty: the operator
     */
    public <T> Uni<T> in(Optional<TenantId> caller, Supplier<Uni<T>> work) {
        return Uni.createFrom().deferred(() -> {
            take(caller);
            return Uni.createFrom().deferred(work::get).onTermination().invoke(() -> leave(caller));
        });
    }

    /** The number of places that are taken. */
    public synchronized int taken() {
        return takenInAll;
    }

    private synchronized void take(Optional<TenantId> caller) {
        int own = taken.getOrDefault(caller, 0);
        if (own >= perTenant) {
            throw ProblemException.of(
                    429,
                    "too-many-" + work,
                    "the limit of " + work + " that this replica runs for "
                            + (caller.isPresent() ? "one tenant" : "operators") + " at a time is reached (" + perTenant
                            + "); send the request again when one of them has ended");
        }
        if (takenInAll >= inAll) {
            throw ProblemException.of(
                    503,
                    "busy",
                    "the limit of " + work + " that this replica runs for all tenants at a time is reached (" + inAll
                            + "); send the request again in a few seconds");
        }
        taken.put(caller, own + 1);
        takenInAll++;
    }

    private synchronized void leave(Optional<TenantId> caller) {
        takenInAll--;
        taken.computeIfPresent(caller, (same, own) -> own == 1 ? null : own - 1);
    }
}
