package io.quartermaster.engine.model;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * More about a wait than its reasons: who is in the way, what little would be enough, and when it may start. Worked out
 * on demand.
 *
 * @param position how many workloads of its own group would be tried before it
 * @param behind whose turn it is in its queue, where that starts its work in strict order and it is not its own
 * @param perPool in its order of pools
 */
public record Outlook(WorkloadId workload, int position, Optional<WorkloadId> behind, List<InPool> perPool) {

    public Outlook {
        perPool = List.copyOf(perPool);
    }

    /**
     * The outlook in one pool.
     *
     * @param holders work of its own tenant that holds what is missing, the largest first; at most {@link #MOST_HOLDERS}. Where a
     *     cap is in the way, what counts against it in any pool; for a cap per user only that user's
     * @param heldByOthersGpuMilli what other tenants hold in the pool; they are not named
     * @param relief what would have to change for it to start there or to have a place set aside: all of it together. It was tried; empty where
     *     nothing of these kinds was found to be enough
     * @param startsAtMillis the latest moment at which it fits, if those who run end when they say; absent where too few
     *     say it, or where something else than room is in the way
     * @param preemptsFromMillis when running work may be stopped for it at the earliest, where it has not waited as long yet as the
     *     pool waits before preempting; absent from then on
     * @param fence the fenced place of the tree that keeps it from taking back what it could without
     */
    public record InPool(
            PoolId pool,
            Reason.Code code,
            List<WorkloadId> holders,
            long heldByOthersGpuMilli,
            List<Relief> relief,
            OptionalLong startsAtMillis,
            OptionalLong preemptsFromMillis,
            Optional<QuotaPath> fence) {
        public InPool {
            holders = List.copyOf(holders);
            relief = List.copyOf(relief);
        }
    }

    /** More holders than this help nobody. */
    public static final int MOST_HOLDERS = 10;

    /**
     * A change of one number.
     *
     * @param path whose quota or cap it is; absent where it is the pool's room
     * @param scope the pool, or all pools, in which it counts; absent for caps
     * @param gpuMilli by how much; 0 where workloads are counted, and for room of which the amount depends on waiting work of other tenants
     * @param workloads how many more may run; 0 where GPUs are counted
     */
    public record Relief(Kind kind, Optional<QuotaPath> path, Optional<Scope> scope, long gpuMilli, long workloads) {

        /** The same with other amounts. */
        public Relief with(long otherGpuMilli, long otherWorkloads) {
            return new Relief(kind, path, scope, otherGpuMilli, otherWorkloads);
        }

        public enum Kind {
            RAISE_LIMIT,
            /** What one user may hold. */
            RAISE_USER_LIMIT,
            /** How many workloads may run. */
            RAISE_MAX_RUNNING,
            RESERVE_MORE,
            /** So many more in a pool that is a plain count; or enough, where the amount is 0. */
            FREE_IN_POOL,
            /** So many more, together on one node; or enough, where the amount is 0. */
            FREE_ON_ONE_NODE
        }
    }
}
