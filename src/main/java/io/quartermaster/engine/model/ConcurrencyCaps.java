package io.quartermaster.engine.model;

import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * Caps, beside the quotas, on the work of a path and all paths below it, counted over all pools together.
 *
 * @param perUserGpuMilli the maximum that one user may hold at a time, in thousandths of a GPU; empty = no cap. It does
 *     not apply to work without a user
 * @param running the maximum number of workloads that may hold an allocation at a time, of any size; empty = no cap
 */
public record ConcurrencyCaps(QuotaPath path, OptionalLong perUserGpuMilli, OptionalInt running) {

    public ConcurrencyCaps {
        if (perUserGpuMilli.orElse(0) < 0 || running.orElse(0) < 0) {
            throw new IllegalArgumentException("caps of " + path + " must not be negative");
        }
    }
}
