package io.quartermaster.platform.http;

import io.quartermaster.platform.TenantId;
import io.smallrye.mutiny.Uni;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * How many pieces of costly work a replica takes on at a time: in all, and for each tenant, so that no tenant has them all. The operator
 * counts as one more tenant.
 */
public final class ConcurrencyLimiter {

    private final String work;
    private final int inAll;
    private final int perTenant;

    // Guarded by this.
    private final Map<Optional<TenantId>, Integer> taken = new HashMap<>();
    private int takenInAll;

    /** @param work what the places are for, in the plural, such as {@code simulations} */
    public ConcurrencyLimiter(String work, int inAll, int perTenant) {
        this.work = work;
        this.inAll = inAll;
        this.perTenant = perTenant;
    }

    /**
     * The work's outcome; its place is free again when it ends, however it does. Fails with 429 when the asker has its part of the places,
     * with 503 when all are taken.
     *
     * @param asker empty: the operator
     */
    public <T> Uni<T> in(Optional<TenantId> asker, Supplier<Uni<T>> work) {
        return Uni.createFrom().deferred(() -> {
            take(asker);
            return Uni.createFrom().deferred(work::get).onTermination().invoke(() -> leave(asker));
        });
    }

    /** How many are taken now. */
    public synchronized int taken() {
        return takenInAll;
    }

    private synchronized void take(Optional<TenantId> asker) {
        int own = taken.getOrDefault(asker, 0);
        if (own >= perTenant) {
            throw ProblemException.of(
                    429,
                    "too-many-" + work,
                    "as many " + work + " of " + (asker.isPresent() ? "one tenant" : "operators")
                            + " as this replica takes on at a time are under way (" + perTenant
                            + "); ask again when one of them has ended");
        }
        if (takenInAll >= inAll) {
            throw ProblemException.of(
                    503,
                    "busy",
                    "as many " + work + " as this replica takes on at a time are under way (" + inAll
                            + "), of other tenants too; ask again in a few seconds");
        }
        taken.put(asker, own + 1);
        takenInAll++;
    }

    private synchronized void leave(Optional<TenantId> asker) {
        takenInAll--;
        taken.computeIfPresent(asker, (same, own) -> own == 1 ? null : own - 1);
    }
}
