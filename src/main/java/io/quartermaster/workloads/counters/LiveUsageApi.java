package io.quartermaster.workloads.counters;

import io.quartermaster.platform.GpuAmount;
import java.time.Instant;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** What a tenant uses now. */
public final class LiveUsageApi {

    private LiveUsageApi() {}

    /** Where the figures come from: the counters that the leader publishes, or, when they are away, a count of the tables. */
    @Schema(name = "LiveUsageSource")
    public enum Source {
        REDIS,
        DATABASE
    }

    /**
     * The figures of one instant. Every pool with an allotment, every policy with a quota and every open queue has its row, used or not.
     *
     * @param asOf time of the plan that they are of
     * @param pools of the whole tenant
     * @param policies with the policies of their subgroups
     */
    @Schema(name = "LiveUsage")
    public record Live(
            Instant asOf, Source source, List<OfPool> pools, List<OfPolicy> policies, List<OfQueue> queues) {}

    /**
     * GPUs of one pool.
     *
     * @param queued asked for by what waits and may use this pool
     * @param used held now; the sum of the two that follow
     * @param reservedUsed covered by what is reserved
     * @param overQuota beyond it
     */
    @Schema(name = "LiveGpus")
    public record Gpus(GpuAmount queued, GpuAmount used, GpuAmount reservedUsed, GpuAmount overQuota) {}

    @Schema(name = "LivePoolUsage")
    public record OfPool(String pool, Gpus gpus) {}

    @Schema(name = "LivePolicyUsage")
    public record OfPolicy(String policy, @Nullable String group, String pool, Gpus gpus) {}

    /** @param waiting workloads that wait or are held */
    @Schema(name = "LiveQueueUsage")
    public record OfQueue(String queue, long waiting) {}
}
