package io.quartermaster.insight;

import io.quartermaster.access.Caller;
import io.quartermaster.access.GroupPath;
import io.quartermaster.access.Permission;
import io.quartermaster.access.Realm;
import io.quartermaster.capacity.grants.Allotment;
import io.quartermaster.capacity.grants.QuotaTerms;
import io.quartermaster.dispatch.read.CellSnapshot;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.simulation.Forecaster;
import io.quartermaster.governance.profiles.ProfileApi;
import io.quartermaster.governance.profiles.ProfileReader;
import io.quartermaster.governance.rules.GpuRange;
import io.quartermaster.governance.rules.Policy;
import io.quartermaster.governance.rules.PolicyQuota;
import io.quartermaster.governance.rules.Profile;
import io.quartermaster.governance.rules.QueueState;
import io.quartermaster.governance.rules.QuotaTreeBuilder;
import io.quartermaster.insight.SimulationApi.Hypothetical;
import io.quartermaster.insight.SimulationApi.PolicyChange;
import io.quartermaster.insight.SimulationApi.QuotaChange;
import io.quartermaster.platform.Ids;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.Problem;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.workloads.WorkloadType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The builder of a simulation. It looks up all names of a request in the cell, and checks that the caller may vary
 * them: queues that the caller may submit to, and policies that the caller may write. An error ends the request with a
 * problem that names the field.
 */
final class WhatIfBuilder {

    private final CellSnapshot snapshot;
    private final Caller caller;
    private final Map<TenantId, CellSnapshot.Terms> changed = new TreeMap<>();
    private final SortedSet<PoolId> changedPools = new TreeSet<>();
    private final List<Workload> added = new ArrayList<>();
    private final List<WorkloadLabel> labels = new ArrayList<>();
    private final Map<WorkloadId, Forecaster.EvictionBehaviour> yielding = new HashMap<>();

    /** The name of a new workload in the result. */
    record WorkloadLabel(TenantId tenant, String name) {}

    private WhatIfBuilder(CellSnapshot snapshot, Caller caller) {
        this.snapshot = snapshot;
        this.caller = caller;
    }

    /** @param queues the queues in the request, by tenant and name */
    static WhatIfBuilder of(
            CellSnapshot snapshot,
            Caller caller,
            WhatIfQuestion whatIfQuestion,
            Map<TenantId, Map<String, QueueShape>> queues) {
        WhatIfBuilder whatIfBuilder = new WhatIfBuilder(snapshot, caller);
        whatIfQuestion.tenants().forEach(whatIfBuilder::applyTerms);
        whatIfQuestion
                .tenants()
                .forEach(one -> whatIfBuilder.addWorkloads(one, queues.getOrDefault(one.tenant(), Map.of())));
        return whatIfBuilder;
    }

    List<WorkloadLabel> labels() {
        return labels;
    }

    /** The pools in which an allotment changes. */
    SortedSet<PoolId> changedPools() {
        return changedPools;
    }

    /** The changed terms of a tenant; empty if the tenant does not exist. */
    CellSnapshot.Terms terms(TenantId tenant) {
        CellSnapshot.Terms terms = changed.get(tenant);
        return terms != null ? terms : snapshot.terms(tenant).orElse(new CellSnapshot.Terms(List.of(), List.of()));
    }

    WhatIf.Variation toVariation(WhatIfQuestion whatIfQuestion) {
        NodeVariation nodes = NodeVariation.of(snapshot, whatIfQuestion);
        List<Change> changes = new ArrayList<>(snapshot.withTerms(changed));
        changes.addAll(nodes.changes());
        return new WhatIf.Variation(
                changes, nodes.withoutRemovedNodes(snapshot.workloads(), snapshot.asOfMillis()), added, yielding);
    }

    private void applyTerms(WhatIfQuestion.OfTenant asked) {
        CellSnapshot.Terms before = snapshot.terms(asked.tenant())
                .orElseThrow(() -> unknown(asked.at() + "tenant", "there is no such tenant", "the id of a tenant"));
        if (asked.allotments().isEmpty() && asked.policies().isEmpty()) {
            return;
        }
        List<Allotment> allotments = changedAllotments(asked, before.allotments());
        List<Policy> policies = new ArrayList<>(before.policies());
        for (int i = 0; i < asked.policies().size(); i++) {
            PolicyChange change = asked.policies().get(i);
            Policy policy = requirePolicy(before, asked.policy(i) + "policy", change.policy());
            if (!mayChange(policy.group())) {
                throw ProblemException.forbidden(
                        caller.may(Permission.POLICIES_WRITE)
                                ? "the permission " + Permission.POLICIES_WRITE
                                        + " of a group admin covers policies of groups below its own groups, not of "
                                        + policy.group()
                                : "this needs the permission " + Permission.POLICIES_WRITE);
            }
            policies.removeIf(one -> one.id().equals(policy.id()));
            policies.add(changedPolicy(asked.policy(i), policy, change, allotments));
        }
        requireRoom(asked, before, allotments, policies);
        changed.put(asked.tenant(), new CellSnapshot.Terms(allotments, policies));
    }

    private List<Allotment> changedAllotments(WhatIfQuestion.OfTenant asked, List<Allotment> before) {
        List<Allotment> allotments = new ArrayList<>(before);
        for (int i = 0; i < asked.allotments().size(); i++) {
            QuotaChange change = asked.allotments().get(i);
            PoolId pool = new PoolId(String.valueOf(change.pool()));
            if (!snapshot.pools().containsKey(pool)) {
                throw unknown(asked.at() + "allotments[" + i + "].pool", "there is no such pool", "the name of a pool");
            }
            changedPools.add(pool);
            Optional<QuotaTerms> current = before.stream()
                    .filter(one -> one.pool().equals(pool))
                    .map(Allotment::terms)
                    .findFirst();
            allotments.removeIf(one -> one.pool().equals(pool));
            allotments.add(
                    new Allotment(asked.tenant(), pool, terms(asked.at() + "allotments[" + i + "].", change, current)));
        }
        return allotments;
    }

    /** The changed quota. If it states no override or drain date, the present one stays. */
    private static QuotaTerms terms(String at, QuotaChange change, Optional<QuotaTerms> current) {
        QuotaTerms terms = change.fields().check(new ProblemException.Invalid(), "");
        try {
            return current.map(before -> terms.withTransitionsOf(before)).orElse(terms);
        } catch (IllegalArgumentException e) {
            throw ProblemException.invalid(
                    at + "override", "the present override does not fit the simulated quota", "an override that fits");
        }
    }

    private static Policy requirePolicy(CellSnapshot.Terms terms, String field, @Nullable String name) {
        return terms.policies().stream()
                .filter(policy -> policy.name().equals(name))
                .findFirst()
                .orElseThrow(() -> unknown(field, "there is no such policy", "the name of a policy"));
    }

    private static Policy changedPolicy(String at, Policy policy, PolicyChange change, List<Allotment> allotments) {
        List<QuotaChange> asked = change.quotas() == null ? List.of() : nonNull(change.quotas());
        List<PolicyQuota> quotas = new ArrayList<>(policy.quotas());
        for (int i = 0; i < asked.size(); i++) {
            QuotaChange quota = asked.get(i);
            Scope scope = scope(at + "quotas[" + i + "].pool", String.valueOf(quota.pool()), allotments);
            Optional<QuotaTerms> current = policy.quotaFor(scope).map(PolicyQuota::terms);
            quotas.removeIf(one -> one.scope().equals(scope));
            quotas.add(new PolicyQuota(scope, terms(at + "quotas[" + i + "].", quota, current)));
        }
        return policy.with(
                quotas,
                change.overQuota() == null ? policy.overQuota() : change.overQuota(),
                change.userLimit() == null
                        ? policy.userLimitGpuMilli()
                        : OptionalLong.of(change.userLimit().milli()),
                change.maxRunning() == null ? policy.maxRunning() : OptionalInt.of(change.maxRunning()));
    }

    private static <T> List<T> nonNull(List<@Nullable T> list) {
        List<T> all = new ArrayList<>();
        for (T one : list) {
            if (one != null) {
                all.add(one);
            }
        }
        return all;
    }

    private static Scope scope(String field, String pool, List<Allotment> allotments) {
        return pool.equals("*") ? Scope.ALL_POOLS : Scope.of(requirePool(field, pool, allotments));
    }

    private static PoolId requirePool(String field, String name, List<Allotment> allotments) {
        PoolId pool = new PoolId(name);
        if (allotments.stream().noneMatch(one -> one.pool().equals(pool))) {
            throw ProblemException.invalid(
                    field,
                    "is not a pool of this tenant",
                    allotments.isEmpty()
                            ? "none, because no pool is allotted to the tenant"
                            : allotments.stream()
                                    .map(one -> one.pool().value())
                                    .sorted()
                                    .collect(Collectors.joining(", ")));
        }
        return pool;
    }

    /** Checks that reservations fit into those above them, as for a stored policy. */
    private static void requireRoom(
            WhatIfQuestion.OfTenant asked,
            CellSnapshot.Terms before,
            List<Allotment> allotments,
            List<Policy> policies) {
        List<QuotaTreeBuilder.Overdraft> known = QuotaTreeBuilder.of(
                        asked.tenant(), before.allotments(), before.policies())
                .overdrafts();
        for (QuotaTreeBuilder.Overdraft overdraft :
                QuotaTreeBuilder.of(asked.tenant(), allotments, policies).overdrafts()) {
            if (!known.contains(overdraft)) {
                throw ProblemException.refused(
                        "reservations-do-not-fit",
                        asked.at() + (asked.policies().isEmpty() ? "allotments" : "policies"),
                        "the policies below "
                                + overdraft.parent().path().group() + " would reserve more in "
                                + overdraft.parent().scope() + " than is reserved for it",
                        "reservations that fit into those above them");
            }
        }
    }

    private void addWorkloads(WhatIfQuestion.OfTenant asked, Map<String, QueueShape> queues) {
        for (int i = 0; i < asked.workloads().size(); i++) {
            Hypothetical workload = asked.workloads().get(i);
            QueueShape shape = workload.queue() == null
                    ? underPolicy(asked, asked.workload(i), workload)
                    : requireMaySubmit(asked.workload(i), queues.get(workload.queue()));
            WorkloadType type = workload.type() == null ? WorkloadType.TRAINING : workload.type();
            if (!type.fits(shape.profile().hasGpus())) {
                throw ProblemException.refused(
                        "type-does-not-fit",
                        asked.workload(i) + "type",
                        "a service uses no GPU, but this profile or shape has some",
                        "another type, or a profile or shape without GPUs");
            }
            GpuRange gpus = shape.profile().range();
            if (!gpus.allows(WhatIfWorkloads.requestedGpus(workload))) {
                throw ProblemException.refused(
                        "gpus-out-of-range",
                        asked.workload(i) + "gpus",
                        gpus.refusal("its profile or shape"),
                        gpus.accepted());
            }
            if (!gpus.allowsAtLeast(
                    WhatIfWorkloads.requestedMinGpus(workload), WhatIfWorkloads.requestedGpus(workload))) {
                throw ProblemException.refused(
                        "gpus-out-of-range",
                        asked.workload(i) + "minGpus",
                        "is outside the range of the profile, or above gpus",
                        gpus.accepted() + "; at most gpus");
            }
            int count = workload.count() == null ? 1 : workload.count();
            for (int n = 1; n <= count; n++) {
                add(asked.tenant(), workload, type, shape, count == 1 ? "" : "-" + n);
            }
        }
    }

    private QueueShape requireMaySubmit(String at, @Nullable QueueShape queue) {
        if (queue == null) {
            throw unknown(at + "queue", "there is no such queue", "the name of an open queue");
        }
        boolean may = caller.realm() instanceof Realm.Operator
                || queue.rules().maySubmit(caller)
                || caller.may(Permission.WORKLOADS_MANAGE, queue.group());
        if (!may) {
            throw ProblemException.forbidden("no access rule lets you submit to queue " + queue.name()
                    + ". Ask an admin of the tenant for a rule that names you or one of your groups");
        }
        if (queue.state() == QueueState.DRAINING) {
            throw new ProblemException(Problem.of(
                    409,
                    "queue-draining",
                    "queue " + queue.name() + " is draining and takes no new workloads",
                    List.of(new Problem.Field(
                            at + "queue", "is draining", "the name of a queue that takes new workloads"))));
        }
        return queue;
    }

    private QueueShape underPolicy(WhatIfQuestion.OfTenant asked, String at, Hypothetical workload) {
        CellSnapshot.Terms terms = terms(asked.tenant());
        Policy policy = requirePolicy(terms, at + "policy", workload.policy());
        if (!caller.may(Permission.POLICIES_WRITE, policy.group())) {
            throw ProblemException.forbidden("a workload with a shape of its own needs the permission "
                    + Permission.POLICIES_WRITE + " for group " + policy.group());
        }
        ProfileApi.Request shape = workload.shape();
        if (shape == null) {
            throw new IllegalStateException("a workload without a queue and a shape has passed its check");
        }
        return WhatIfWorkloads.underPolicy(policy, profile(at + "shape.", shape, terms.allotments()));
    }

    /** Checks the shape as a profile is checked. */
    private Profile profile(String at, ProfileApi.Request shape, List<Allotment> allotments) {
        SortedMap<String, ProfileReader.GrantedPool> granted = new TreeMap<>();
        for (Allotment one : allotments) {
            Optional.ofNullable(snapshot.pools().get(one.pool()))
                    .ifPresent(pool -> granted.put(
                            pool.id().value(), new ProfileReader.GrantedPool(pool.id(), pool.topologyLevels())));
        }
        ProblemException.Invalid problems = new ProblemException.Invalid();
        ProfileReader reader = new ProfileReader(problems, at);
        Profile profile = reader.read(shape, Ids.next(), "hypothetical", 0, granted);
        reader.checkLevels(profile, granted);
        problems.throwIfAny();
        return profile;
    }

    private boolean mayChange(GroupPath group) {
        return caller.mayEverywhere(Permission.POLICIES_WRITE)
                || caller.may(Permission.POLICIES_WRITE)
                        && caller.groups().stream().anyMatch(mine -> mine.contains(group) && !mine.equals(group));
    }

    private void add(TenantId tenant, Hypothetical asked, WorkloadType type, QueueShape shape, String suffix) {
        Workload workload = WhatIfWorkloads.workload(
                new WorkloadId("simulated-%04d".formatted(added.size() + 1)),
                tenant,
                caller,
                asked,
                type,
                shape,
                snapshot.asOfMillis(),
                snapshot.lastSequence() + added.size() + 1);
        added.add(workload);
        labels.add(new WorkloadLabel(tenant, (asked.name() == null ? "hypothetical" : asked.name()) + suffix));
        yielding.put(workload.id(), new Forecaster.EvictionBehaviour(shape.graceMillis(), shape.requeues()));
    }

    static ProblemException unknown(String field, String message, String accepted) {
        return new ProblemException(Problem.of(
                404,
                "not-found",
                "there is no such resource, or you may not see it",
                List.of(new Problem.Field(field, message, accepted))));
    }
}
