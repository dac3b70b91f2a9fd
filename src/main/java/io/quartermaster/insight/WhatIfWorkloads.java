package io.quartermaster.insight;

import io.quartermaster.access.Caller;
import io.quartermaster.access.QueueAccessRules;
import io.quartermaster.access.Realm;
import io.quartermaster.engine.model.ProfileId;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import io.quartermaster.governance.rules.Policy;
import io.quartermaster.governance.rules.PreemptionAction;
import io.quartermaster.governance.rules.Profile;
import io.quartermaster.governance.rules.QueueState;
import io.quartermaster.governance.rules.QuotaTreeBuilder;
import io.quartermaster.insight.SimulationApi.Hypothetical;
import io.quartermaster.platform.GpuAmount;
import io.quartermaster.platform.TenantId;
import io.quartermaster.workloads.WorkloadType;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** Translates the new workloads of a simulation for the engine, as the leader would if they were submitted. */
final class WhatIfWorkloads {

    private static final long WHOLE_GPU = 1_000;

    private WhatIfWorkloads() {}

    /** The terms of a profile under a policy, as if a queue combined them. */
    static QueueShape underPolicy(Policy policy, Profile profile) {
        return new QueueShape(
                Optional.empty(),
                "hypothetical",
                policy.group(),
                QueueState.OPEN,
                true,
                policy.graceMillis(),
                policy.onPreemption() != PreemptionAction.END,
                profile,
                new QueueAccessRules(List.of()),
                policy.rights());
    }

    static Workload workload(
            WorkloadId id,
            TenantId tenant,
            Caller caller,
            Hypothetical asked,
            WorkloadType type,
            QueueShape queue,
            long submittedMillis,
            long sequence) {
        Profile profile = queue.profile();
        return new Workload(
                id,
                QuotaTreeBuilder.path(tenant, queue.group()),
                caller.realm() instanceof Realm.Tenant ? Optional.of(caller.subject()) : Optional.empty(),
                Optional.of(new ProfileId(profile.name())),
                queue.id(),
                profile.shape(profile.gpus(requestedGpus(asked), requestedMinGpus(asked))),
                profile.pools(),
                asked.priority() == null ? queue.rights().defaultPriority(type.defaultPriority()) : asked.priority(),
                asked.preemptible() == null ? type.defaultPreemptible() : asked.preemptible(),
                Boolean.TRUE.equals(asked.dedicatedOnly()) || !queue.overQuota(),
                profile.movesBack(),
                submittedMillis,
                sequence,
                shorterOf(asked.maxRuntime(), profile.maxRuntimeMillis()),
                queue.state() == QueueState.HELD,
                WorkloadPhase.waiting(),
                Optional.empty());
    }

    /** The requested whole GPUs per worker, if stated. */
    static OptionalInt requestedGpus(Hypothetical asked) {
        return whole(asked.gpus());
    }

    /** The number of GPUs with which a worker starts if it cannot have all, if stated. */
    static OptionalInt requestedMinGpus(Hypothetical asked) {
        return whole(asked.minGpus());
    }

    private static OptionalInt whole(@Nullable GpuAmount gpus) {
        return gpus == null ? OptionalInt.empty() : OptionalInt.of(Math.toIntExact(gpus.milli() / WHOLE_GPU));
    }

    private static OptionalLong shorterOf(@Nullable Duration asked, OptionalLong ofProfile) {
        if (asked == null) {
            return ofProfile;
        }
        return OptionalLong.of(Math.min(asked.toMillis(), ofProfile.orElse(Long.MAX_VALUE)));
    }
}
