package io.quartermaster.capacity.grants;

import io.quartermaster.platform.GpuAmount;
import io.quartermaster.platform.TenantId;
import io.smallrye.mutiny.Uni;
import java.util.Map;

/** The source of a tenant's present use and fair share in its pools. A package above implements it. */
public interface PoolShareSource {

    /**
     * The present numbers of a tenant in one pool.
     *
     * @param used GPUs that its work uses once all preempted work has left
     */
    record Share(GpuAmount used, GpuAmount fairShare) {}

    /** The shares by the names of pools. A pool is absent if its share is not known in time; never fails. */
    Uni<Map<String, Share>> sharesOf(TenantId tenant);
}
