package io.quartermaster.insight;

import io.quartermaster.insight.SimulationApi.Hypothetical;
import io.quartermaster.insight.SimulationApi.NewNodes;
import io.quartermaster.insight.SimulationApi.PolicyChange;
import io.quartermaster.insight.SimulationApi.QuotaChange;
import io.quartermaster.platform.TenantId;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** A what-if whose form is right; whether what it names is there is still to be seen. */
record WhatIfQuestion(
        List<OfTenant> tenants, List<NewNodes> added, List<String> removed, List<String> down, Duration horizon) {

    /**
     * What would be otherwise of one tenant.
     *
     * @param at what stands before the names of its fields
     */
    record OfTenant(
            TenantId tenant,
            String at,
            List<Hypothetical> workloads,
            List<PolicyChange> policies,
            List<QuotaChange> allotments) {

        Set<String> queues() {
            Set<String> queues = new TreeSet<>();
            for (Hypothetical workload : workloads) {
                if (workload.queue() != null) {
                    queues.add(workload.queue());
                }
            }
            return queues;
        }

        String workload(int index) {
            return at + "workloads[" + index + "].";
        }

        String policy(int index) {
            return at + "policies[" + index + "].";
        }
    }

    boolean isEmpty() {
        return added.isEmpty()
                && removed.isEmpty()
                && down.isEmpty()
                && tenants.stream()
                        .allMatch(one -> one.workloads().isEmpty()
                                && one.policies().isEmpty()
                                && one.allotments().isEmpty());
    }
}
