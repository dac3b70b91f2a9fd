package io.quartermaster.engine.quota;

import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Scope;
import java.util.OptionalLong;

/**
 * A budget of GPU time with the use that counts against it now. Evicted work keeps its devices during its grace period,
 * so the meter reserves that much of the budget.
 */
public final class BudgetMeter {
    private final QuotaPath path;
    private final Scope scope;
    private final long graceMillis;
    private final DualAmount used = new DualAmount();
    private long leftGpuMilliMillis;

    BudgetMeter(QuotaPath path, Scope scope, long graceMillis) {
        this.path = path;
        this.scope = scope;
        this.graceMillis = graceMillis;
    }

    /** The path that the budget belongs to. */
    public QuotaPath path() {
        return path;
    }

    public Scope scope() {
        return scope;
    }

    public boolean counts(PoolId pool) {
        return scope.equals(Scope.ALL_POOLS) || scope.equals(Scope.of(pool));
    }

    public boolean counts(PoolId pool, QuotaPath holder) {
        return counts(pool) && path.covers(holder);
    }

    /** Counts an amount that starts; a negative amount ends. */
    public void add(UsageView view, long gpuMilli) {
        used.add(view, gpuMilli);
    }

    DualAmount used() {
        return used;
    }

    void setLeft(long gpuMilliMillis) {
        leftGpuMilliMillis = gpuMilliMillis;
    }

    /** Whether any of the budget is left. */
    public boolean hasLeft() {
        return leftGpuMilliMillis > 0;
    }

    /** Whether the running work must stop now to have its grace period within the budget. */
    public boolean isUsedUp() {
        return graceReserve(used.projected()) <= 0;
    }

    /**
     * Whether more work may start. With it, the running work must still have its grace period. Non-preemptible work
     * must also be able to run to its end. Work without GPUs may always start.
     */
    public boolean allows(long gpuMilli, boolean preemptible, OptionalLong runtimeMillis) {
        return allowsAfter(0, gpuMilli, preemptible, runtimeMillis);
    }

    /** Like {@link #allows}, but after the given number of milliseconds in which the running work continues. */
    public boolean allowsAfter(long millis, long gpuMilli, boolean preemptible, OptionalLong runtimeMillis) {
        if (gpuMilli == 0) {
            return true;
        }
        long free = graceReserve(used.projected() + gpuMilli) - saturated(used.current(), millis);
        if (preemptible) {
            return free > 0;
        }
        return runtimeMillis.isPresent() && free > saturated(gpuMilli, runtimeMillis.getAsLong());
    }

    private long graceReserve(long heldGpuMilli) {
        long kept = saturated(heldGpuMilli, graceMillis);
        return leftGpuMilliMillis <= 0 ? Math.min(leftGpuMilliMillis, 0) : leftGpuMilliMillis - kept;
    }

    private static long saturated(long gpuMilli, long millis) {
        return Math.multiplyHigh(gpuMilli, millis) == 0 && gpuMilli * millis >= 0 ? gpuMilli * millis : Long.MAX_VALUE;
    }

    /**
     * The time until the running work must stop if nothing changes. It is empty if nothing runs, or if that time has
     * passed.
     */
    public OptionalLong lastsMillis() {
        return exhaustedIn(graceReserve(used.projected()));
    }

    /**
     * The time until {@link #allows} becomes false if nothing changes. It is empty if it is false now, or if nothing
     * runs.
     */
    public OptionalLong allowsForMillis(long gpuMilli, boolean preemptible, OptionalLong runtimeMillis) {
        if (gpuMilli == 0 || !allows(gpuMilli, preemptible, runtimeMillis)) {
            return OptionalLong.empty();
        }
        long free = graceReserve(used.projected() + gpuMilli);
        return exhaustedIn(preemptible ? free : free - saturated(gpuMilli, runtimeMillis.orElse(0)));
    }

    private OptionalLong exhaustedIn(long freeGpuMilliMillis) {
        long held = used.current();
        return held <= 0 || freeGpuMilliMillis <= 0
                ? OptionalLong.empty()
                : OptionalLong.of(Math.ceilDiv(freeGpuMilliMillis, held));
    }
}
