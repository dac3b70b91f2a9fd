package io.quartermaster.engine.model;

import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * Bounds on work of a path and all below it that no quota states, counted over all pools together.
 *
 * @param perUserGpuMilli the most that one user may hold at once, in thousandths of a GPU; absent = no bound. Work that
 *     names no user is not bound by it
 * @param running the most workloads that may hold something at once, whatever their size; absent = no bound
 */
public record ConcurrencyCaps(QuotaPath path, OptionalLong perUserGpuMilli, OptionalInt running) {

    public ConcurrencyCaps {
        if (perUserGpuMilli.orElse(0) < 0 || running.orElse(0) < 0) {
            throw new IllegalArgumentException("caps of " + path + " are not negative");
        }
    }
}
