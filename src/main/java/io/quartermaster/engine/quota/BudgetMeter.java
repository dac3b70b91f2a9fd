package io.quartermaster.engine.quota;

import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Scope;
import java.util.OptionalLong;

/** A budget of GPU time with what counts against it now. What stops keeps its devices for its grace, so that much is kept back. */
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

    /** Whose budget it is. */
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

    /** Counts something that comes; a negative amount goes. */
    public void add(View view, long gpuMilli) {
        used.add(view, gpuMilli);
    }

    DualAmount used() {
        return used;
    }

    void left(long gpuMilliMillis) {
        leftGpuMilliMillis = gpuMilliMillis;
    }

    /** Whether anything is left. */
    public boolean isLeft() {
        return leftGpuMilliMillis > 0;
    }

    /** Whether what runs has to stop, so that it has its grace. */
    public boolean isUsedUp() {
        return graceReserve(used.projected()) <= 0;
    }

    /**
     * Whether something more may start: what runs with it can still be given its grace; and what cannot be preempted can run to its end.
     * What uses no GPUs may always.
     */
    public boolean allows(long gpuMilli, boolean preemptible, OptionalLong runtimeMillis) {
        return allowsIn(0, gpuMilli, preemptible, runtimeMillis);
    }

    /** Likewise after so many milliseconds, if what runs now runs on. */
    public boolean allowsIn(long millis, long gpuMilli, boolean preemptible, OptionalLong runtimeMillis) {
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

    /** In how long what runs has to stop, if nothing changes; empty where nothing runs, or it had to already. */
    public OptionalLong lastsMillis() {
        return exhaustedIn(graceReserve(used.projected()));
    }

    /** In how long something more may not start any more; likewise. */
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
