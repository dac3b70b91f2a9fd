package io.quartermaster.engine.state;

import io.quartermaster.engine.model.Hours;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.quota.QuotaAdmission;
import io.quartermaster.engine.quota.QuotaRequest;
import io.quartermaster.engine.quota.QuotaTree;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Decides what is possible for waiting work regardless of other work: whether it can ever run, and when the opening
 * hours of a pool would allow it.
 */
public final class FeasibilityCheck {
    private static final long GPU_MILLI = 1000;

    private final DeclaredState declaredState;
    private final PoolRequestFactory poolRequestFactory;
    private final boolean allIsLent;

    /** @param allIsLent whether every quota lends all that it reserves */
    FeasibilityCheck(DeclaredState declaredState, PoolRequestFactory poolRequestFactory, boolean allIsLent) {
        this.declaredState = declaredState;
        this.poolRequestFactory = poolRequestFactory;
        this.allIsLent = allIsLent;
    }

    /** Whether the request of a class fits the known capacity and the bounds of its path in some pool. */
    boolean canEverRun(SchedulingClass schedulingClass) {
        for (PoolRequest poolRequest : poolRequestFactory.forClass(schedulingClass)) {
            QuotaRequest least =
                    poolRequestFactory.minimum(schedulingClass, poolRequest).quotaRequest();
            if (poolRequest.poolCapacity().pool().hasExecutor()
                    && poolRequestFactory.couldEverStart(schedulingClass, poolRequest)
                    && isEverAdmissible(least)
                    && !lastsTooLong(schedulingClass, poolRequest)) {
                return true;
            }
        }
        return false;
    }

    /** Whether the bounds of its path, and capacity that others never lend, leave room for a request at all. */
    boolean isEverAdmissible(QuotaRequest quotaRequest) {
        return !QuotaAdmission.isBeyondAllBounds(quotaRequest)
                && (allIsLent || !QuotaAdmission.isBeyondWhatIsLent(quotaRequest, this::knownGpuMilli));
    }

    /** The capacity of a tree with every known node up. */
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

    /**
     * Whether its run time excludes a class from a pool. Non-preemptible work that states no {@code max-runtime} starts
     * neither in a pool that preempts at closing nor under a budget.
     */
    private static boolean lastsTooLong(SchedulingClass schedulingClass, PoolRequest poolRequest) {
        return isNeverOpenLongEnough(schedulingClass, poolRequest)
                || !poolRequest.meters().isEmpty() && staysOn(schedulingClass);
    }

    private static boolean staysOn(SchedulingClass schedulingClass) {
        return !schedulingClass.key().preemptible()
                && schedulingClass.key().maxRuntimeMillis().isEmpty();
    }

    /**
     * Whether work must end before the pool closes, and cannot. Either its {@code max-runtime} exceeds the longest
     * opening, or it is non-preemptible and states no {@code max-runtime}. The surplus workers of a running workload
     * are exempt.
     */
    public static boolean isNeverOpenLongEnough(SchedulingClass schedulingClass, PoolRequest poolRequest) {
        Optional<Hours> hours =
                poolRequest.poolCapacity().pool().hours().filter(kept -> kept.atClose() == Hours.AtClose.PREEMPT);
        OptionalLong runtime = schedulingClass.key().maxRuntimeMillis();
        return hours.isPresent()
                && !schedulingClass.isGrowth()
                && (staysOn(schedulingClass)
                        || runtime.isPresent()
                                && runtime.getAsLong() > hours.get().longestMillis());
    }

    /**
     * The first moment from a given one at which the pool's opening hours allow new work to start. Empty if no opening
     * to come is long enough.
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
