package io.quartermaster.engine.quota;

import io.quartermaster.engine.model.QuotaPath;
import java.util.Optional;

/** A bound beside the quota trees, with what counts against it. */
public final class Cap {
    private final QuotaPath path;
    private final Optional<String> user;
    private final long most;
    private final DualAmount used = new DualAmount();

    /** @param user whose GPUs are counted, in thousandths; absent: running workloads are counted */
    Cap(QuotaPath path, Optional<String> user, long most) {
        this.path = path;
        this.user = user;
        this.most = most;
    }

    /** Where the bound was stated. */
    public QuotaPath path() {
        return path;
    }

    /** Whom it binds, if it is one on GPUs of a single user. */
    public Optional<String> user() {
        return user;
    }

    /** GPUs in thousandths, or a number of workloads. */
    public long most() {
        return most;
    }

    public DualAmount used() {
        return used;
    }

    /**
     * What something counts here.
     *
     * @param whole whether the workload as such comes or goes with it
     */
    public long countOf(long gpuMilli, boolean whole) {
        if (user.isPresent()) {
            return gpuMilli;
        }
        return whole ? 1 : 0;
    }
}
