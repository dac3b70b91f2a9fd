package io.quartermaster.engine.explain;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.DecisionReceipt;
import io.quartermaster.engine.model.EvictionReceipt;
import io.quartermaster.engine.model.NominationEnd;
import io.quartermaster.engine.model.OrderReceipt;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Reason;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import io.quartermaster.engine.order.Candidate;
import io.quartermaster.engine.order.CandidateQueue;
import io.quartermaster.engine.order.OrderExplainer;
import io.quartermaster.engine.plan.PlanListener;
import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.QuotaTree;
import io.quartermaster.engine.state.DeclaredState;
import io.quartermaster.engine.state.SchedulingClass;
import io.quartermaster.engine.state.SchedulingState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Builder of the receipts of a plan; it listens while the planner makes the plan. */
public final class ReceiptBuilder implements PlanListener {
    private final List<DecisionReceipt> receipts = new ArrayList<>();
    private final Map<QuotaNode, EvictionReceipt.Share> shares = new HashMap<>();
    private final Map<WorkloadId, DecisionReceipt.Stop> ownStops = new HashMap<>();
    private final Map<WorkloadId, List<DecisionReceipt.Stop>> stopsFor = new HashMap<>();
    private @Nullable DeclaredState declaredState;
    private @Nullable SchedulingState schedulingState;
    private @Nullable Attempt attempt;
    private @Nullable Lapse givenUp;

    /** A withdrawn nomination. */
    private record Lapse(Allocation place, NominationEnd why) {}

    /** The current candidate, with the reasons why it does not start in its pools, in its order of pools. */
    private record Attempt(WorkloadId workload, OrderReceipt turn, List<Reason> inPools) {

        /** The reasons why it starts in none of the pools before this one. */
        List<Reason> before(PoolId pool) {
            return inPools.stream()
                    .takeWhile(reason -> !reason.pool().equals(pool))
                    .toList();
        }

        List<Reason> upTo(PoolId pool) {
            List<Reason> upTo = new ArrayList<>(before(pool));
            inPools.stream().filter(reason -> reason.pool().equals(pool)).forEach(upTo::add);
            return upTo;
        }
    }

    /** The receipts so far, in the order of the decisions. */
    public List<DecisionReceipt> receipts() {
        return List.copyOf(receipts);
    }

    @Override
    public void begins(DeclaredState known, SchedulingState open) {
        declaredState = known;
        schedulingState = open;
        open.cluster().trees().stream().map(QuotaTree::root).forEach(this::recordAttempt);
    }

    private void recordAttempt(QuotaNode node) {
        shares.put(node, node.share());
        node.children().forEach(this::recordAttempt);
    }

    @Override
    public void attemptBegins(Candidate candidate, CandidateQueue candidateQueue) {
        ReasonFinder reasonFinder = new ReasonFinder(facts(), books());
        SchedulingClass schedulingClass = candidate.schedulingClass();
        List<Reason> reasons = schedulingClass.firstInQueue() == null
                ? reasonFinder.reasons(schedulingClass)
                : reasonFinder.reasonsOfFirst(schedulingClass);
        attempt = new Attempt(candidate.head().id(), OrderExplainer.of(candidate, candidateQueue), reasons);
    }

    @Override
    public void nominationWithdrawn(Allocation place, NominationEnd why) {
        givenUp = new Lapse(place, why);
    }

    @Override
    public void decided(Decision decision) {
        receipts.add(
                switch (decision) {
                    case Decision.Start start ->
                        started(start, start.allocation().pool(), start.rule());
                    case Decision.Grow grow -> started(grow, grow.added().pool(), grow.rule());
                    case Decision.Preempt preempt -> stopped(preempt, preempt.successor(), preempt.receipt());
                    case Decision.Shrink shrink -> stopped(shrink, shrink.successor(), shrink.receipt());
                    case Decision.Nominate nominate -> nominates(nominate);
                    case Decision.WithdrawNomination withdrawNomination -> withdraws(withdrawNomination);
                });
    }

    private DecisionReceipt started(Decision decision, PoolId pool, Decision.Rule rule) {
        boolean wasKept = rule == Decision.Rule.NOMINATED;
        Optional<Attempt> turn = wasKept ? Optional.empty() : tried(decision.workload());
        return receipt(
                decision, pool, turn, turn.map(own -> own.before(pool)).orElse(List.of()), List.of(), Optional.empty());
    }

    private DecisionReceipt stopped(
            Decision decision, Optional<WorkloadId> successor, EvictionReceipt evictionReceipt) {
        DecisionReceipt.Stop stop = new DecisionReceipt.Stop(decision.workload(), evictionReceipt);
        ownStops.put(decision.workload(), stop);
        successor.ifPresent(
                id -> stopsFor.computeIfAbsent(id, key -> new ArrayList<>()).add(stop));
        WorkloadPhase.Holding holding =
                (WorkloadPhase.Holding) facts().workload(decision.workload()).state();
        return receipt(
                decision, holding.allocation().pool(), Optional.empty(), List.of(), List.of(stop), Optional.empty());
    }

    /** Records a nomination, for a preemptor or for a victim that moves. */
    private DecisionReceipt nominates(Decision.Nominate nominate) {
        PoolId pool = nominate.place().pool();
        Optional<Attempt> turn = tried(nominate.workload());
        List<DecisionReceipt.Stop> stops = turn.isPresent()
                ? stopsFor.getOrDefault(nominate.workload(), List.of())
                : Optional.ofNullable(ownStops.get(nominate.workload())).stream()
                        .toList();
        return receipt(
                nominate, pool, turn, turn.map(own -> own.upTo(pool)).orElse(List.of()), stops, Optional.empty());
    }

    private DecisionReceipt withdraws(Decision.WithdrawNomination withdrawNomination) {
        Lapse lapse = Objects.requireNonNull(givenUp);
        givenUp = null;
        return receipt(
                withdrawNomination,
                lapse.place().pool(),
                Optional.empty(),
                List.of(),
                List.of(),
                Optional.of(lapse.why()));
    }

    private Optional<Attempt> tried(WorkloadId workload) {
        return Optional.ofNullable(attempt).filter(own -> own.workload().equals(workload));
    }

    private DecisionReceipt receipt(
            Decision decision,
            PoolId pool,
            Optional<Attempt> turn,
            List<Reason> notTaken,
            List<DecisionReceipt.Stop> stops,
            Optional<NominationEnd> why) {
        List<EvictionReceipt.Share> before = new ArrayList<>();
        List<EvictionReceipt.Share> after = new ArrayList<>();
        QuotaPath path = facts().workload(decision.workload()).path();
        for (QuotaNode leaf : books().cluster().bindingLeaves(pool, path)) {
            for (QuotaNode node : leaf.belowRoot()) {
                EvictionReceipt.Share now = node.share();
                before.add(shares.getOrDefault(node, now));
                after.add(now);
                shares.put(node, now);
            }
        }
        return new DecisionReceipt(decision, turn.map(Attempt::turn), notTaken, before, after, stops, why);
    }

    private DeclaredState facts() {
        return Objects.requireNonNull(declaredState);
    }

    private SchedulingState books() {
        return Objects.requireNonNull(schedulingState);
    }
}
