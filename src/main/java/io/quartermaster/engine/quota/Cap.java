package io.quartermaster.engine.quota;

import io.quartermaster.engine.model.QuotaPath;
import java.util.Optional;

/** A bound outside the quota trees, with the use that counts against it. */
public final class Cap {
    private final QuotaPath path;
    private final Optional<String> user;
    private final long max;
    private final DualAmount used = new DualAmount();

    /** @param user the user whose GPUs are counted, in thousandths; if absent, running workloads are counted */
    Cap(QuotaPath path, Optional<String> user, long most) {
        this.path = path;
        this.user = user;
        this.max = most;
    }

    /** The path that states the bound. */
    public QuotaPath path() {
        return path;
    }

    /** The user that the bound applies to, if it is a cap on the GPUs of a single user. */
    public Optional<String> user() {
        return user;
    }

    /** The bound: GPUs in thousandths, or a number of workloads. */
    public long max() {
        return max;
    }

    public DualAmount used() {
        return used;
    }

    /**
     * The amount that a request counts against this bound.
     *
     * @param whole whether a whole workload starts or ends, rather than some of its workers
     */
    public long countOf(long gpuMilli, boolean whole) {
        if (user.isPresent()) {
            return gpuMilli;
        }
        return whole ? 1 : 0;
    }
}
