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

/** A simulation request in valid form; its names are not looked up yet. */
record WhatIfQuestion(
        List<OfTenant> tenants, List<NewNodes> added, List<String> removed, List<String> down, Duration horizon) {

    /**
     * The changes of one tenant.
     *
     * @param at the prefix of its field names
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
