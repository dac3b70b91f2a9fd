package io.quartermaster.engine.benchmark;

import io.quartermaster.engine.benchmark.CellModel.QuotaUse;
import io.quartermaster.engine.benchmark.CellModel.View;
import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.EvictionCause;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.Plan;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Checker that replays plans against a model of its own and reports each decision that breaks a rule of scheduling. It
 * receives the changes that the engine receives, and every plan.
 */
final class PlanChecker {

    /** A rule of scheduling that every plan must keep. */
    enum Rule {
        /** No thousandth of a GPU is held twice, nor promised twice. */
        DEVICE,
        /** A GPU is shared within one tenant only. */
        SHARING,
        /** The workers of a node have no more CPU and memory than it has. */
        NODE_CAPACITY,
        /** Work starts on nodes that are up, schedulable and in the pool. */
        NODE,
        /** Work starts in an open pool of its own list. */
        POOL,
        /** A start has all workers of the gang, each with the devices that it requests. */
        GANG,
        /** All workers are in one domain of the required level. */
        TOPOLOGY,
        /** No path without a quota starts work. */
        UNNAMED,
        LIMIT,
        /** Where over-quota is off, work stays within the reserved amount. */
        OVER_QUOTA,
        /** Non-preemptible work stays within the reserved amount. */
        NON_PREEMPTIBLE,
        /** What others reserve and do not lend stays idle. */
        LENDABLE,
        /** A workload starts only while it waits, and in its nominated place if it has one. */
        ONCE,
        /** Only running, preemptible work is evicted, and none that the same plan started. */
        EVICTION,
        /** Reclaim takes from other groups; preempt takes lower priority of the same group. */
        VICTIM,
        /** Work under a fence reclaims nothing from outside. */
        FENCE,
        /** No workload starts before an alike workload of its group that precedes it. */
        ORDER
    }

    /** A decision that breaks a rule. */
    record Violation(Rule rule, String text) {}

    private final CellModel model = new CellModel();
    private final long minRuntimeMillis;
    private final Map<PoolId, Long> capacities = new HashMap<>();

    PlanChecker(long minRuntimeMillis) {
        this.minRuntimeMillis = minRuntimeMillis;
    }

    CellModel model() {
        return model;
    }

    /** Applies changes that the engine receives, too. */
    void apply(Collection<Change> changes) {
        capacities.clear();
        model.apply(changes);
    }

    /** Carries out a plan in the model, and returns what is wrong with it. */
    List<Violation> replay(Plan plan) {
        Replay replay = new Replay(plan.nowMillis());
        plan.decisions().forEach(replay::decide);
        replay.end();
        return replay.violations;
    }

    /** The replay of one plan. */
    private final class Replay {
        private final long nowMillis;
        private final List<Violation> violations = new ArrayList<>();
        private final Set<WorkloadId> started = new HashSet<>();
        /** The places that the plan gives. Their promises hold at its end. */
        private final Map<Decision, Allocation> given = new LinkedHashMap<>();

        Replay(long nowMillis) {
            this.nowMillis = nowMillis;
        }

        private void require(boolean holds, Rule rule, Decision decision, String why) {
            if (!holds) {
                String what = decision instanceof Decision.Evict evict
                        ? "Evict " + evict.workload() + " for " + evict.successor() + ", " + evict.cause()
                        : decision.toString();
                violations.add(new Violation(rule, why + ": " + what));
            }
        }

        void decide(Decision decision) {
            Optional<Workload> found = model.workload(decision.workload());
            if (found.isEmpty()) {
                require(false, Rule.ONCE, decision, "no such workload");
                return;
            }
            Workload workload = found.get();
            switch (decision) {
                case Decision.Start start -> start(start, workload);
                case Decision.Evict evict -> evict(evict, workload);
                case Decision.Nominate nominate -> nominate(nominate, workload);
                case Decision.WithdrawNomination withdrawn -> model.put(workload.withNomination(Optional.empty()));
                case Decision.Grow grow -> throw new IllegalArgumentException("no workload is elastic: " + grow);
                case Decision.Shrink shrink -> throw new IllegalArgumentException("no workload is elastic: " + shrink);
            }
        }

        private void start(Decision.Start start, Workload workload) {
            boolean nominated = workload.nomination().isPresent();
            boolean waits = workload.state() instanceof WorkloadPhase.Waiting && !workload.held();
            require(waits && started.add(workload.id()), Rule.ONCE, start, "it does not wait");
            require(
                    !nominated || workload.nomination().equals(Optional.of(start.allocation())),
                    Rule.ONCE,
                    start,
                    "its nomination is elsewhere");
            Allocation allocation = start.allocation();
            checkPlace(start, workload, allocation);
            checkNodes(start, workload, allocation);
            if (!nominated) {
                Optional<Workload> first = model.firstAlike(workload);
                require(
                        first.isEmpty() || first.get().id().equals(workload.id()),
                        Rule.ORDER,
                        start,
                        first.map(Workload::id) + " precedes it");
            }
            checkQuotas(start, workload, allocation, View.NOW, nominated);
            model.put(workload.withNomination(Optional.empty())
                    .withState(WorkloadPhase.running(allocation, nowMillis, start.fromReservation())));
            checkDevices(View.NOW, start, allocation);
            given.put(start, allocation);
        }

        private void nominate(Decision.Nominate nominate, Workload workload) {
            checkPlace(nominate, workload, nominate.place());
            boolean isMove = workload.state() instanceof WorkloadPhase.Holding;
            if (!isMove) {
                checkQuotas(nominate, workload, nominate.place(), View.PROMISED, false);
            }
            model.put(workload.withNomination(Optional.of(nominate.place())));
            given.put(nominate, nominate.place());
        }

        void end() {
            given.forEach((decision, place) -> checkDevices(View.PROMISED, decision, place));
        }

        private void evict(Decision.Evict evict, Workload victim) {
            if (!(victim.state() instanceof WorkloadPhase.Holding holding)) {
                require(false, Rule.EVICTION, evict, "it does not run");
                return;
            }
            boolean asked = evict.successor().isPresent();
            require(holding.phase().isStaying(), Rule.EVICTION, evict, "it is stopping already");
            require(victim.preemptible(), Rule.EVICTION, evict, "it is not preemptible");
            require(!started.contains(victim.id()), Rule.EVICTION, evict, "the same plan started it");
            require(
                    !asked || nowMillis - holding.startedMillis() >= minRuntimeMillis,
                    Rule.EVICTION,
                    evict,
                    "it is too young");
            evict.successor()
                    .flatMap(model::workload)
                    .ifPresent(successor ->
                            checkRight(evict, victim, holding.allocation().pool(), successor));
            model.put(victim.withState(
                    holding.in(new WorkloadPhase.Phase.Stopping(evict.cause(), evict.deadlineMillis()))));
        }

        private void checkRight(Decision.Evict evict, Workload victim, PoolId pool, Workload successor) {
            boolean sameGroup = victim.path().equals(successor.path());
            if (evict.cause() == EvictionCause.PREEMPT) {
                require(
                        sameGroup && victim.priority() < successor.priority(),
                        Rule.VICTIM,
                        evict,
                        "it has no lower priority in the group of its preemptor");
            }
            if (evict.cause() == EvictionCause.RECLAIM) {
                require(!sameGroup, Rule.VICTIM, evict, "its preemptor is in the same group");
                for (QuotaUse each = model.leaf(successor, pool).orElse(null); each != null; each = each.parent) {
                    Quota quota = each.quota;
                    require(
                            quota == null || !quota.fence() || quota.path().covers(victim.path()),
                            Rule.FENCE,
                            evict,
                            "a fence of its preemptor excludes it");
                }
            }
        }

        /** Whether the place is one that the workload asks for. */
        private void checkPlace(Decision decision, Workload workload, Allocation allocation) {
            Optional<Pool> pool = model.pool(allocation.pool());
            require(
                    workload.pools().contains(allocation.pool())
                            && pool.map(each -> each.at(nowMillis).takesWork()).orElse(false),
                    Rule.POOL,
                    decision,
                    "its pool is closed or not in its list");
            Shape shape = workload.shape();
            boolean whole = shape.isPlain() && allocation.workers().size() == shape.workers();
            Set<Integer> numbers = new HashSet<>();
            for (Allocation.Worker worker : allocation.workers()) {
                whole &= numbers.add(worker.number())
                        && worker.number() < shape.workers()
                        && worker.place() instanceof Allocation.Place.OnNode place
                        && isWhole(shape.gpus(), place);
            }
            require(whole, Rule.GANG, decision, "workers or devices are missing");
            shape.requiredLevel().ifPresent(level -> {
                int depth =
                        pool.map(each -> each.topologyLevels().indexOf(level)).orElse(-1);
                Set<List<String>> domains = new HashSet<>();
                for (Allocation.Worker worker : allocation.workers()) {
                    Node node = model.node(((Allocation.Place.OnNode) worker.place()).node()).node;
                    boolean known = node != null && node.topology().size() > depth;
                    domains.add(
                            known && node != null
                                    ? node.topology().subList(0, depth + 1)
                                    : List.of(worker.number() + "?"));
                }
                require(domains.size() == 1, Rule.TOPOLOGY, decision, "it is in several domains");
            });
        }

        private static boolean isWhole(GpuRequest request, Allocation.Place.OnNode place) {
            Set<Integer> devices = new HashSet<>();
            place.shares().forEach(share -> devices.add(share.device()));
            boolean distinct = devices.size() == place.shares().size();
            return distinct
                    && switch (request) {
                        case GpuRequest.Whole whole ->
                            devices.size() == whole.count()
                                    && place.shares().stream().allMatch(share -> share.gpuMilli() == 1_000);
                        case GpuRequest.Fraction fraction ->
                            devices.size() == fraction.devices()
                                    && place.shares().stream()
                                            .allMatch(share -> share.gpuMilli() == fraction.gpuMilliEach());
                        case GpuRequest.Memory memory -> throw new IllegalArgumentException("unknown: " + memory);
                        case GpuRequest.Mig mig -> throw new IllegalArgumentException("unknown: " + mig);
                    };
        }

        private void checkNodes(Decision decision, Workload workload, Allocation allocation) {
            for (Allocation.Worker worker : allocation.workers()) {
                if (worker.place() instanceof Allocation.Place.OnNode place) {
                    Node node = model.node(place.node()).node;
                    require(
                            node != null
                                    && node.up()
                                    && node.schedulable()
                                    && node.takesWorkOf(workload.path().tenant())
                                    && node.pool().equals(allocation.pool())
                                    && place.shares().stream().allMatch(share -> hasDevice(node, share.device())),
                            Rule.NODE,
                            decision,
                            place.node() + " takes no such work");
                }
            }
        }

        private static boolean hasDevice(Node node, int index) {
            return node.devices().stream().anyMatch(device -> device.index() == index);
        }

        /** Checks the devices and nodes that a decision has given. */
        private void checkDevices(View view, Decision decision, Allocation allocation) {
            boolean shares = model.pool(allocation.pool())
                    .map(pool -> pool.sharing() == Pool.Sharing.ANY)
                    .orElse(false);
            int at = view.ordinal();
            for (Allocation.Worker worker : allocation.workers()) {
                if (!(worker.place() instanceof Allocation.Place.OnNode place)) {
                    continue;
                }
                CellModel.NodeUse use = model.node(place.node());
                for (Allocation.Share share : place.shares()) {
                    CellModel.DeviceUse device = use.device(share.device());
                    require(device.gpuMilli[at] <= 1_000, Rule.DEVICE, decision, view + " twice on " + share);
                    require(
                            shares || device.partsByTenant.get(at).size() <= 1,
                            Rule.SHARING,
                            decision,
                            view + " of several tenants on " + share);
                }
                Node node = use.node;
                if (node != null) {
                    require(
                            use.cpuMilli[at] <= node.cpuMilli().orElse(Long.MAX_VALUE)
                                    && use.memoryMiB[at] <= node.memoryMiB().orElse(Long.MAX_VALUE),
                            Rule.NODE_CAPACITY,
                            decision,
                            view + " too much CPU or memory on " + node.id());
                }
            }
        }

        /**
         * Checks, before the decision, the quotas of the path.
         *
         * @param nominated whether the start uses a nomination: then only limits count, because the bounds by the
         *     reserved amount were checked when the nomination was made
         */
        private void checkQuotas(
                Decision decision, Workload workload, Allocation allocation, View view, boolean nominated) {
            Optional<QuotaUse> leaf = model.leaf(workload, allocation.pool());
            require(leaf.isPresent(), Rule.UNNAMED, decision, "its path has no quota");
            int at = view.ordinal();
            long more = allocation.gpuMilli();
            for (QuotaUse each = leaf.orElse(null); each != null && each.quota != null; each = each.parent) {
                Quota quota = each.quota;
                require(
                        each.used[at] + more <= quota.limitGpuMilli().orElse(Long.MAX_VALUE),
                        Rule.LIMIT,
                        decision,
                        "beyond the limit of " + quota.path() + " with " + each.used[at]);
                boolean bounded = !nominated && (!quota.overQuota() || workload.dedicatedOnly());
                require(
                        !bounded || each.used[at] + more <= quota.reservedGpuMilli(),
                        Rule.OVER_QUOTA,
                        decision,
                        "beyond what is reserved of " + quota.path());
                require(
                        nominated
                                || workload.preemptible()
                                || each.nonPreemptible[at] + more <= quota.reservedGpuMilli(),
                        Rule.NON_PREEMPTIBLE,
                        decision,
                        "non-preemptible work beyond what is reserved of " + quota.path());
            }
            if (!nominated) {
                leaf.ifPresent(found -> checkHeldBack(decision, allocation, found, at, more));
            }
        }

        private void checkHeldBack(Decision decision, Allocation allocation, QuotaUse leaf, int at, long more) {
            long heldBeside = 0;
            for (QuotaUse below = leaf; below.parent != null; below = below.parent) {
                QuotaUse each = below.parent;
                heldBeside += each.heldBackBelow - below.heldBack;
                Quota quota = each.quota;
                long most = quota == null
                        ? capacities.computeIfAbsent(allocation.pool(), model::capacityGpuMilli)
                        : quota.limitGpuMilli().orElse(Long.MAX_VALUE);
                require(
                        quota != null && heldBeside == 0 || each.used[at] + more <= most - heldBeside,
                        Rule.LENDABLE,
                        decision,
                        "others do not lend " + heldBeside + " below "
                                + (quota == null ? "the root" : quota.path().toString()));
            }
        }
    }
}
