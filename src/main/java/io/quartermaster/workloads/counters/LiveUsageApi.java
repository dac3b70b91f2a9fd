package io.quartermaster.workloads.counters;

import io.quartermaster.platform.GpuAmount;
import java.time.Instant;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** The current usage of a tenant in the API. */
public final class LiveUsageApi {

    private LiveUsageApi() {}

    /**
     * The source of the figures: the counters that the leader publishes, or, if they are missing, a count of the
     * tables.
     */
    @Schema(name = "LiveUsageSource")
    public enum Source {
        REDIS,
        DATABASE
    }

    /**
     * The figures of one instant. Every pool with an allotment, every policy with a quota and every open queue has a
     * row, even when it is not used.
     *
     * @param asOf time of the plan
     * @param pools the usage of the whole tenant
     * @param policies the usage of each policy, including the policies of its subgroups
     */
    @Schema(name = "LiveUsage")
    public record Live(
            Instant asOf, Source source, List<OfPool> pools, List<OfPolicy> policies, List<OfQueue> queues) {}

    /**
     * GPUs of one pool.
     *
     * @param queued requested by waiting workloads that may use this pool
     * @param used held now; the sum of the two that follow
     * @param reservedUsed within the reserved amount
     * @param overQuota beyond the reserved amount
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
