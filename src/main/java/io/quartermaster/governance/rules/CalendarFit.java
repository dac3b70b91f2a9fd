package io.quartermaster.governance.rules;

import io.quartermaster.capacity.grants.Allotment;
import io.quartermaster.capacity.grants.CapacityReservation;
import io.quartermaster.capacity.grants.QuotaTerms;
import io.quartermaster.engine.model.GpuFormat;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.platform.GpuAmount;
import io.quartermaster.platform.TenantId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.UUID;

/**
 * The check that the reservations of groups fit their parents' at each future moment, including capacity reservations
 * and overrides of quotas.
 */
public final class CalendarFit {

    /** The rules, and the windows that are planned or open. */
    public record State(TenantRules rules, List<CapacityReservation> windows) {
        public State {
            windows = List.copyOf(windows);
        }

        private List<QuotaTerms> terms() {
            List<QuotaTerms> terms = new ArrayList<>();
            rules.allotments().forEach(one -> terms.add(one.allotment().terms()));
            rules.policies().forEach(policy -> policy.quotas().forEach(quota -> terms.add(quota.terms())));
            return terms;
        }

        private boolean isConstant() {
            return windows.isEmpty()
                    && terms().stream().allMatch(terms -> terms.override().isEmpty());
        }
    }

    private record TreePlace(QuotaPath path, Scope scope) {}

    /** A place where groups would reserve more than there is, and the first moment of it. */
    public record Objection(QuotaTreeBuilder.Overdraft overdraft, Instant at, String text) {

        /** The field of a policy request that contributes to the conflict; {@code quotas} for any other. */
        public String field(TenantId tenant, Policy policy) {
            QuotaPath path = QuotaTreeBuilder.path(tenant, policy.group());
            Scope scope = overdraft.parent().scope();
            if (!overdraft.parent().path().equals(path)
                    && overdraft.children().stream()
                            .noneMatch(child -> child.path().equals(path))) {
                return "quotas";
            }
            boolean overridden = policy.quotaFor(scope)
                    .map(PolicyQuota::terms)
                    .filter(terms -> terms.overridesReservedAt(at.toEpochMilli()))
                    .isPresent();
            return PolicyChecks.field(policy, scope, overridden ? "override.reserved" : "reserved");
        }
    }

    private CalendarFit() {}

    /**
     * Each place where, at some future moment, groups would reserve more than there is, and by more than before the
     * change. Each has one sentence with the first such moment.
     */
    public static List<Objection> objections(State before, State after, Instant now) {
        if (after.isConstant()) {
            return List.of();
        }
        Set<TreePlace> found = new HashSet<>();
        List<Objection> inOrder = new ArrayList<>();
        for (Instant moment : moments(before, after, now)) {
            List<QuotaTreeBuilder.Overdraft> overdrawnThen =
                    treeAt(after, moment).overdrafts();
            if (overdrawnThen.isEmpty()) {
                continue;
            }
            Map<TreePlace, Long> had = excess(treeAt(before, moment));
            for (QuotaTreeBuilder.Overdraft overdraft : overdrawnThen) {
                TreePlace place = new TreePlace(
                        overdraft.parent().path(), overdraft.parent().scope());
                if (excess(overdraft) > had.getOrDefault(place, 0L) && found.add(place)) {
                    inOrder.add(new Objection(overdraft, moment, objectionText(after.rules(), overdraft, moment)));
                }
            }
        }
        return inOrder;
    }

    private static SortedSet<Instant> moments(State before, State after, Instant now) {
        SortedSet<Instant> moments = new TreeSet<>();
        moments.add(now);
        for (State state : List.of(before, after)) {
            for (CapacityReservation each : state.windows()) {
                moments.add(each.startsAt());
                moments.add(each.endsAt());
            }
            for (QuotaTerms terms : state.terms()) {
                terms.override().ifPresent(override -> {
                    override.fromMillis().ifPresent(from -> moments.add(Instant.ofEpochMilli(from)));
                    moments.add(Instant.ofEpochMilli(override.untilMillis()));
                });
            }
        }
        return moments.tailSet(now);
    }

    private static Map<TreePlace, Long> excess(QuotaTreeBuilder tree) {
        Map<TreePlace, Long> excess = new HashMap<>();
        tree.overdrafts()
                .forEach(each -> excess.put(
                        new TreePlace(each.parent().path(), each.parent().scope()), excess(each)));
        return excess;
    }

    private static long excess(QuotaTreeBuilder.Overdraft overdraft) {
        return overdraft.childrenReservedGpuMilli() - overdraft.parent().reservedGpuMilli();
    }

    private static String objectionText(TenantRules rules, QuotaTreeBuilder.Overdraft overdraft, Instant moment) {
        return "in " + rules.nameOf(overdraft.parent().scope()) + " the groups of "
                + QuotaTreeBuilder.Overdraft.holder(overdraft.parent().path()) + " would reserve "
                + new GpuAmount(overdraft.childrenReservedGpuMilli()) + " of "
                + GpuFormat.gpus(overdraft.parent().reservedGpuMilli()) + " at " + moment + ": "
                + overdraft.reservations();
    }

    private static QuotaTreeBuilder treeAt(State state, Instant moment) {
        TenantRules rules = state.rules();
        List<CapacityReservation> open =
                state.windows().stream().filter(each -> each.isOpenAt(moment)).toList();
        List<Allotment> allotments = rules.allotments().stream()
                .map(one -> new Allotment(
                        rules.tenant(),
                        one.allotment().pool(),
                        raised(one.allotment().terms(), open, one.poolId(), Optional.empty(), moment)))
                .toList();
        List<Policy> policies = rules.policies().stream()
                .map(policy -> policy.with(
                        policy.quotas().stream()
                                .map(quota -> raised(quota, policy.id(), open, moment))
                                .toList(),
                        policy.overQuota(),
                        policy.userLimitGpuMilli(),
                        policy.maxRunning()))
                .toList();
        return QuotaTreeBuilder.of(rules.tenant(), allotments, policies);
    }

    private static PolicyQuota raised(PolicyQuota quota, UUID policy, List<CapacityReservation> open, Instant moment) {
        return switch (quota.scope()) {
            case Scope.AllPools anywhere ->
                new PolicyQuota(quota.scope(), quota.terms().effectiveAt(moment.toEpochMilli()));
            case Scope.OnePool(PoolId pool) ->
                new PolicyQuota(
                        quota.scope(),
                        raised(quota.terms(), open, UUID.fromString(pool.value()), Optional.of(policy), moment));
        };
    }

    private static QuotaTerms raised(
            QuotaTerms terms, List<CapacityReservation> open, UUID pool, Optional<UUID> policy, Instant moment) {
        long more = open.stream()
                .filter(each -> each.pool().equals(pool) && each.policy().equals(policy))
                .mapToLong(CapacityReservation::gpuMilli)
                .sum();
        return terms.effectiveAt(moment.toEpochMilli()).raisedBy(more);
    }
}
