package io.quartermaster.dispatch;

import io.quartermaster.governance.OnPreemption;
import io.quartermaster.platform.TenantId;
import io.quartermaster.workloads.Wish;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/** A workload as the tables have it, with what its policy, profile and queue say, its live attempt and the reports on it. */
record WorkloadRecord(
        TenantId tenant,
        UUID id,
        long sequence,
        Terms terms,
        String submittedBy,
        int priority,
        boolean preemptible,
        boolean dedicatedOnly,
        OptionalLong maxRuntimeMillis,
        long submittedMillis,
        Wish wish,
        String state,
        int attempts,
        boolean atHead,
        Optional<LiveAttempt> attempt,
        Optional<String> nomination) {

    /**
     * What policy, profile and queue say.
     *
     * @param overQuota false where the queue allows none; what the policy allows is in its quota
     */
    record Terms(
            UUID policy,
            String group,
            OnPreemption onPreemption,
            long graceMillis,
            UUID queue,
            boolean overQuota,
            UUID profile,
            String profileName,
            String queueName,
            long gpuMilli,
            int workers,
            long cpuMilli,
            long memoryMiB,
            Map<String, String> labels,
            List<UUID> pools) {

        Binding binding() {
            return new Binding(policy, queue, profile);
        }

        /** What it must get to start. */
        long startGpuMilli() {
            return gpuMilli * workers;
        }
    }

    /** By what it waits. It may be moved to another queue while it does. */
    record Binding(UUID policy, UUID queue, UUID profile) {}

    /** The attempt that holds devices now. */
    record LiveAttempt(
            UUID id,
            int number,
            String state,
            UUID pool,
            long gpuMilli,
            long boundMillis,
            OptionalLong startedMillis,
            Optional<String> stopReason,
            OptionalLong deadlineMillis,
            List<Device> devices,
            List<Report> reports) {}

    /** A part of the allocation; no node where the pool is a plain count. */
    record Device(int worker, Optional<UUID> node, OptionalLong index, long gpuMilli) {}

    /** What the executor of one node said last. */
    record Report(UUID node, String state, Optional<String> outcome, Optional<Integer> exitCode, String message) {}

    boolean over() {
        return switch (state) {
            case "succeeded", "failed", "cancelled" -> true;
            default -> false;
        };
    }
}
