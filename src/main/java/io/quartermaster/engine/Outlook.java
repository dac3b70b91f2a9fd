package io.quartermaster.engine;

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
     * @param relief the smallest change that would admit it, if one of these kinds would
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
            Optional<Relief> relief,
            OptionalLong startsAtMillis,
            OptionalLong preemptsFromMillis,
            Optional<QuotaPath> fence) {
        public InPool {
            holders = List.copyOf(holders);
        }
    }

    /** More holders than this help nobody. */
    public static final int MOST_HOLDERS = 10;

    /**
     * A change of one number.
     *
     * @param path whose quota it is; absent where it is the pool's room
     * @param gpuMilli by how much; 0 where workloads are counted
     * @param workloads how many more may run; 0 where GPUs are counted
     */
    public record Relief(Kind kind, Optional<QuotaPath> path, long gpuMilli, long workloads) {

        public Relief(Kind kind, Optional<QuotaPath> path, long gpuMilli) {
            this(kind, path, gpuMilli, 0);
        }

        public enum Kind {
            RAISE_LIMIT,
            /** What one user may hold. */
            RAISE_USER_LIMIT,
            /** How many workloads may run. */
            RAISE_MAX_RUNNING,
            RESERVE_MORE,
            /** Anywhere in the pool. */
            FREE_IN_POOL,
            /** Together on one node. */
            FREE_ON_ONE_NODE
        }
    }
}
