package io.quartermaster.governance.policies;

import io.quartermaster.capacity.grants.QuotaFields;
import io.quartermaster.capacity.grants.QuotaOverrideApi;
import io.quartermaster.capacity.grants.QuotaTerms;
import io.quartermaster.governance.ChangeImpact;
import io.quartermaster.governance.rules.Policy;
import io.quartermaster.governance.rules.PolicyQuota;
import io.quartermaster.governance.rules.PolicyState;
import io.quartermaster.governance.rules.PreemptionAction;
import io.quartermaster.governance.rules.Queue;
import io.quartermaster.governance.rules.TenantRules;
import io.quartermaster.platform.GpuAmount;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** Requests and answers of the API for policies. */
final class PolicyApi {

    private PolicyApi() {}

    @Schema(
            name = "PolicyQuotaRequest",
            description = "An absent field takes its default: 0 reserved, no limit, all lendable, rank 0.")
    record QuotaRequest(
            @Schema(required = true, description = "name of a pool, or * for all pools together", examples = "h100")
            @Nullable
            String pool,

            @Schema(description = "the group's deserved share; others may borrow it while it is unused") @Nullable
            GpuAmount reserved,

            @Schema(description = "the most that the group may hold at the same time; absent: no limit of its own")
            @Nullable
            GpuAmount limit,

            @Schema(
                    description = "share of spare capacity; absent: the reserved amount, or 1 where no sibling "
                            + "reserves anything")
            @Nullable
            Integer weight,

            @Schema(description = "how much of the reserved amount others may borrow; absent: all of it, 0: dedicated")
            @Nullable
            GpuAmount lendable,

            @Schema(description = "siblings with a lower rank go first") @Nullable
            Integer rank,

            @Schema(description = "temporary values for reserved and limit; absent: none")
            QuotaOverrideApi.@Nullable Request override,

            @Schema(
                    description = "time from which the service stops work beyond the limit; a time in the past: "
                            + "immediately; absent: such work continues",
                    examples = "2026-12-01T18:00:00Z")
            @Nullable
            String drainBy,

            @Schema(
                    description =
                            "whether its work reclaims nothing from other groups; other groups still reclaim from "
                                    + "it; absent: false")
            @Nullable
            Boolean fence) {

        QuotaFields fields() {
            return new QuotaFields(reserved, limit, weight, lendable, rank, override, drainBy, fence);
        }
    }

    @Schema(name = "PolicyRequest")
    record Request(
            @Schema(description = "required to create; an update takes it from the path", examples = "rnd") @Nullable
            String name,

            @Schema(required = true, description = "path of the group that the policy is for", examples = "/rnd")
            @Nullable
            String group,

            @Nullable List<@Nullable QuotaRequest> quotas,

            @Schema(description = "names of profiles; the policy gets a queue for each") @Nullable
            List<String> profiles,

            @Schema(description = "whether work may run beyond what is reserved", defaultValue = "true") @Nullable
            Boolean overQuota,

            @Schema(
                    description = "what the service does with preempted work; absent: requeue. pause frees "
                            + "the GPUs and keeps the processes, if the node supports it and the workload "
                            + "has one worker; otherwise it acts as requeue")
            @Nullable
            PreemptionAction onPreemption,

            @Schema(description = "how long preempted work keeps its devices; absent: PT30S", examples = "PT30S")
            @Nullable
            Duration grace,

            @Schema(description = "the most that one user may hold at the same time; absent: no limit of its own")
            @Nullable
            GpuAmount userLimit,

            @Schema(
                    description =
                            "number of workloads of the group and of groups below it that may run at the same time, "
                                    + "regardless of their size; absent: no limit",
                    minimum = "1",
                    maximum = "1000000")
            @Nullable
            Integer maxRunning,

            @Schema(
                    description = "the highest priority that a submission may state; absent: the default of the "
                            + "workload's type",
                    minimum = "0",
                    maximum = "1000")
            @Nullable
            Integer maxPriority,

            @Schema(
                    description = "whether submissions may be non-preemptible, by their own field or by their "
                            + "type; absent: false")
            @Nullable
            Boolean nonPreemptible) {}

    @Schema(
            name = "PolicyQuotaPatch",
            description =
                    "An absent field stays unchanged; null returns a field to its default. A new quota begins with the "
                            + "defaults.")
    record QuotaPatch(
            @Nullable GpuAmount reserved,
            @Nullable GpuAmount limit,
            @Nullable Integer weight,
            @Nullable GpuAmount lendable,
            @Nullable Integer rank,
            QuotaOverrideApi.@Nullable Request override,

            @Schema(examples = "2026-12-01T18:00:00Z") @Nullable
            String drainBy,

            @Nullable Boolean fence) {

        static QuotaPatch of(QuotaTerms terms) {
            QuotaFields fields = QuotaFields.of(terms);
            Instant drainBy = QuotaOverrideApi.instant(terms.drainByMillis());
            return new QuotaPatch(
                    fields.reserved(),
                    fields.limit(),
                    fields.weight(),
                    fields.lendable(),
                    fields.rank(),
                    QuotaOverrideApi.toRequest(terms),
                    drainBy == null ? null : drainBy.toString(),
                    terms.fence());
        }

        QuotaRequest at(String pool) {
            return new QuotaRequest(pool, reserved, limit, weight, lendable, rank, override, drainBy, fence);
        }
    }

    @Schema(
            name = "PolicyPatch",
            description = "A merge patch (RFC 7396): an absent field stays unchanged, null returns a field to "
                    + "its default, objects are merged, lists are replaced.")
    record Patch(
            @Schema(description = "path of the group that the policy is for", examples = "/rnd") @Nullable
            String group,

            @Schema(description = "by name of the pool, or * for all pools together; null removes a quota") @Nullable
            Map<String, @Nullable QuotaPatch> quotas,

            @Schema(description = "names of profiles; the policy gets a queue for each") @Nullable
            List<String> profiles,

            @Nullable Boolean overQuota,
            @Nullable PreemptionAction onPreemption,
            @Nullable Duration grace,
            @Nullable GpuAmount userLimit,

            @Schema(minimum = "1", maximum = "1000000") @Nullable
            Integer maxRunning,

            @Schema(minimum = "0", maximum = "1000") @Nullable
            Integer maxPriority,

            @Nullable Boolean nonPreemptible) {

        static Patch of(TenantRules rules, Policy policy) {
            Map<String, @Nullable QuotaPatch> quotas = new LinkedHashMap<>();
            policy.quotas().forEach(quota -> quotas.put(rules.nameOf(quota.scope()), QuotaPatch.of(quota.terms())));
            View view = View.of(rules, policy, null);
            return new Patch(
                    view.group(),
                    quotas,
                    view.profiles(),
                    view.overQuota(),
                    view.onPreemption(),
                    view.grace(),
                    view.userLimit(),
                    view.maxRunning(),
                    view.maxPriority(),
                    view.nonPreemptible());
        }

        /** The names of the pools, in the order of {@link #request}'s quotas. */
        List<String> pools() {
            return quotas == null ? List.of() : List.copyOf(quotas.keySet());
        }

        Request request(String name) {
            List<@Nullable QuotaRequest> list = new ArrayList<>();
            if (quotas != null) {
                quotas.forEach((pool, quota) -> list.add(quota == null ? null : quota.at(pool)));
            }
            return new Request(
                    name,
                    group,
                    list,
                    profiles,
                    overQuota,
                    onPreemption,
                    grace,
                    userLimit,
                    maxRunning,
                    maxPriority,
                    nonPreemptible);
        }
    }

    @Schema(name = "PolicyQuota")
    record QuotaView(
            String pool,
            GpuAmount reserved,
            @Nullable GpuAmount limit,
            @Nullable Integer weight,
            @Nullable GpuAmount lendable,
            int rank,

            @Schema(description = "temporary values for reserved and limit")
            QuotaOverrideApi.@Nullable View override,

            @Schema(description = "time from which the service stops work beyond the limit") @Nullable
            Instant drainBy,

            @Schema(description = "whether its work reclaims nothing from other groups")
            boolean fence) {

        static QuotaView of(TenantRules rules, PolicyQuota quota) {
            QuotaFields fields = QuotaFields.of(quota.terms());
            return new QuotaView(
                    rules.nameOf(quota.scope()),
                    new GpuAmount(quota.terms().reservedGpuMilli()),
                    fields.limit(),
                    fields.weight(),
                    fields.lendable(),
                    quota.terms().rank(),
                    QuotaOverrideApi.of(quota.terms()),
                    QuotaOverrideApi.instant(quota.terms().drainByMillis()),
                    quota.terms().fence());
        }
    }

    /** A difference between a policy and the realm. */
    @Schema(name = "PolicyDriftKind")
    enum DriftKind {
        GROUP_GONE
    }

    @Schema(name = "PolicyDrift", description = "A difference between the policy and the realm.")
    record Drift(DriftKind kind, Instant since) {

        static Drift groupGone(Instant since) {
            return new Drift(DriftKind.GROUP_GONE, since);
        }
    }

    @Schema(
            name = "DriftCheck",
            description = "The changes that a comparison of policies with the realm's groups made.")
    record DriftChecked(
            @Schema(description = "number of policies compared")
            int policies,

            @Schema(description = "names of the policies that this check suspended, because their group is gone")
            List<String> suspended,

            @Schema(description = "names of the policies that this check resumed, because their group is back")
            List<String> resumed) {}

    @Schema(name = "Policy")
    record View(
            UUID id,
            String name,
            String group,
            List<QuotaView> quotas,
            List<String> profiles,
            @Schema(description = "names of its queues") List<String> queues,
            boolean overQuota,
            PreemptionAction onPreemption,
            Duration grace,
            @Nullable GpuAmount userLimit,
            @Nullable Integer maxRunning,

            @Schema(description = "the highest priority that a submission may state; absent: the default of its type")
            @Nullable
            Integer maxPriority,

            @Schema(description = "whether submissions may be non-preemptible")
            boolean nonPreemptible,

            PolicyState state,
            @Nullable Drift drift,
            long version,

            @Schema(description = "in answers to writes") @Nullable
            ChangeImpact effects,

            @Schema(
                    description = "warnings about what the policy allows; in answers to writes also the warnings of "
                            + "its effects")
            List<String> warnings) {

        View {
            quotas = List.copyOf(quotas);
            profiles = List.copyOf(profiles);
            queues = List.copyOf(queues);
            warnings = List.copyOf(warnings);
        }

        static View of(TenantRules rules, Policy policy, @Nullable ChangeImpact changeImpact) {
            List<Queue> queues = rules.queuesOf(policy);
            return new View(
                    policy.id(),
                    policy.name(),
                    policy.group().value(),
                    policy.quotas().stream()
                            .map(quota -> QuotaView.of(rules, quota))
                            .toList(),
                    queues.stream()
                            .map(queue -> rules.profileOf(queue).name())
                            .sorted()
                            .toList(),
                    queues.stream().map(Queue::name).sorted().toList(),
                    policy.overQuota(),
                    policy.onPreemption(),
                    Duration.ofMillis(policy.graceMillis()),
                    policy.userLimitGpuMilli().isPresent()
                            ? new GpuAmount(policy.userLimitGpuMilli().getAsLong())
                            : null,
                    policy.maxRunning().isPresent() ? policy.maxRunning().getAsInt() : null,
                    policy.rights().maxPriority().isPresent()
                            ? policy.rights().maxPriority().getAsInt()
                            : null,
                    policy.rights().nonPreemptible(),
                    policy.state(),
                    policy.groupGoneSince().map(Drift::groupGone).orElse(null),
                    policy.version(),
                    changeImpact,
                    Stream.concat(
                                    warnings(policy).stream(),
                                    changeImpact == null ? Stream.of() : changeImpact.warnings().stream())
                            .distinct()
                            .toList());
        }

        private static List<String> warnings(Policy policy) {
            return policy.rights().areUnbounded()
                    ? List.of("policy " + policy.name() + " allows every submission the highest priority and"
                            + " non-preemptible work; set a lower maxPriority, or nonPreemptible to false, "
                            + "unless you intend this")
                    : List.of();
        }
    }
}
