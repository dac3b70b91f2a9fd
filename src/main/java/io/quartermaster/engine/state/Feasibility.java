package io.quartermaster.engine.state;

import io.quartermaster.engine.model.Hours;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.quota.QuotaAdmission;
import io.quartermaster.engine.quota.QuotaRequest;
import io.quartermaster.engine.quota.QuotaTree;
import java.util.Optional;
import java.util.OptionalLong;

/** What waiting work can hope for as things are, whoever else is there: whether it can ever run, and when hours would let it. */
public final class Feasibility {
    private static final long GPU_MILLI = 1000;

    private final DeclaredState declaredState;
    private final PoolRequestFactory poolRequestFactory;
    private final boolean allIsLent;

    /** @param allIsLent whether nobody keeps anything idle for himself */
    Feasibility(DeclaredState declaredState, PoolRequestFactory poolRequestFactory, boolean allIsLent) {
        this.declaredState = declaredState;
        this.poolRequestFactory = poolRequestFactory;
        this.allIsLent = allIsLent;
    }

    /** Whether what a line asks is anywhere within what there is, and within what its path may have at all. */
    boolean canEverRun(SchedulingClass schedulingClass) {
        for (PoolRequest poolRequest : poolRequestFactory.forClass(schedulingClass)) {
            QuotaRequest least =
                    poolRequestFactory.minimum(schedulingClass, poolRequest).ask();
            if (poolRequest.space().pool().hasExecutor()
                    && poolRequestFactory.couldEverStart(schedulingClass, poolRequest)
                    && isEverAdmissible(least)
                    && !lastsTooLong(schedulingClass, poolRequest)) {
                return true;
            }
        }
        return false;
    }

    /** Whether the bounds of its path, and what others never lend, leave room for it at all. */
    boolean isEverAdmissible(QuotaRequest quotaRequest) {
        return !QuotaAdmission.isBeyondAllBounds(quotaRequest)
                && (allIsLent || !QuotaAdmission.isBeyondWhatIsLent(quotaRequest, this::knownGpuMilli));
    }

    /** What there is for a tree with every known node up. */
    private long knownGpuMilli(QuotaTree tree) {
        long known = 0;
        for (Pool pool : declaredState.pools().values()) {
            known += tree.counts(pool.id()) ? knownGpuMilli(pool) : 0;
        }
        return known;
    }

    private long knownGpuMilli(Pool pool) {
        return switch (pool.capacity()) {
            case Pool.Capacity.Count count -> count.gpuMilli();
            case Pool.Capacity.Nodes nodes -> {
                long gpus = 0;
                for (Node node : declaredState.nodes().values()) {
                    gpus += node.pool().equals(pool.id()) ? node.devices().size() : 0;
                }
                yield Math.min(gpus * GPU_MILLI, nodes.maxGpuMilli().orElse(Long.MAX_VALUE));
            }
        };
    }

    /** What cannot be preempted, and does not say how long it runs, starts nowhere where work must have ended by a moment to come. */
    private static boolean lastsTooLong(SchedulingClass schedulingClass, PoolRequest poolRequest) {
        return isNeverOpenLongEnough(schedulingClass, poolRequest)
                || !poolRequest.meters().isEmpty() && staysOn(schedulingClass);
    }

    private static boolean staysOn(SchedulingClass schedulingClass) {
        return !schedulingClass.key().preemptible()
                && schedulingClass.key().maxRuntimeMillis().isEmpty();
    }

    /**
     * Whether work must have ended when the pool closes, and cannot: it may run longer than the pool is ever open at a time, or it cannot be preempted and does
     * not say how long it runs. Workers that a running workload gains are not asked.
     */
    public static boolean isNeverOpenLongEnough(SchedulingClass schedulingClass, PoolRequest poolRequest) {
        Optional<Hours> hours =
                poolRequest.space().pool().hours().filter(kept -> kept.atClose() == Hours.AtClose.PREEMPT);
        OptionalLong runtime = schedulingClass.key().maxRuntimeMillis();
        return hours.isPresent()
                && !schedulingClass.isGrowth()
                && (staysOn(schedulingClass)
                        || runtime.isPresent()
                                && runtime.getAsLong() > hours.get().longestMillis());
    }

    /**
     * The first moment from another on at which a pool's hours let something start that does not run yet; empty where none of the openings to come is long
     * enough.
     */
    public static OptionalLong opensAt(
            Hours hours, long fromMillis, boolean preemptible, OptionalLong maxRuntimeMillis) {
        if (hours.atClose() == Hours.AtClose.GO_ON || preemptible && maxRuntimeMillis.isEmpty()) {
            return hours.opensFor(fromMillis, 1);
        }
        return maxRuntimeMillis.isPresent()
                ? hours.opensFor(fromMillis, maxRuntimeMillis.getAsLong())
                : OptionalLong.empty();
    }
}
