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
    private @Nullable WithdrawnNomination withdrawnNomination;

    /** A withdrawn nomination. */
    private record WithdrawnNomination(Allocation place, NominationEnd reason) {}

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
    public void planBegins(DeclaredState known, SchedulingState open) {
        declaredState = known;
        schedulingState = open;
        open.cluster().trees().stream().map(QuotaTree::root).forEach(this::recordShares);
    }

    private void recordShares(QuotaNode node) {
        shares.put(node, node.share());
        node.children().forEach(this::recordShares);
    }

    @Override
    public void attemptBegins(Candidate candidate, CandidateQueue candidateQueue) {
        ReasonFinder reasonFinder = new ReasonFinder(requireInputs(), requireState());
        SchedulingClass schedulingClass = candidate.schedulingClass();
        List<Reason> reasons = schedulingClass.firstInQueue() == null
                ? reasonFinder.reasons(schedulingClass)
                : reasonFinder.reasonsOfFirst(schedulingClass);
        attempt = new Attempt(candidate.head().id(), OrderExplainer.of(candidate, candidateQueue), reasons);
    }

    @Override
    public void nominationWithdrawn(Allocation place, NominationEnd nominationEnd) {
        withdrawnNomination = new WithdrawnNomination(place, nominationEnd);
    }

    @Override
    public void decisionMade(Decision decision) {
        receipts.add(
                switch (decision) {
                    case Decision.Start start ->
                        receiptOfStart(start, start.allocation().pool(), start.rule());
                    case Decision.Grow grow -> receiptOfStart(grow, grow.added().pool(), grow.rule());
                    case Decision.Evict evict -> receiptOfEviction(evict, evict.successor(), evict.receipt());
                    case Decision.Shrink shrink -> receiptOfEviction(shrink, shrink.successor(), shrink.receipt());
                    case Decision.Nominate nominate -> receiptOfNomination(nominate);
                    case Decision.WithdrawNomination withdrawNomination -> receiptOfWithdrawal(withdrawNomination);
                });
    }

    private DecisionReceipt receiptOfStart(Decision decision, PoolId pool, Decision.Rule rule) {
        boolean wasKept = rule == Decision.Rule.NOMINATED;
        Optional<Attempt> turn = wasKept ? Optional.empty() : attemptOf(decision.workload());
        return receipt(
                decision, pool, turn, turn.map(own -> own.before(pool)).orElse(List.of()), List.of(), Optional.empty());
    }

    private DecisionReceipt receiptOfEviction(
            Decision decision, Optional<WorkloadId> successor, EvictionReceipt evictionReceipt) {
        DecisionReceipt.Stop stop = new DecisionReceipt.Stop(decision.workload(), evictionReceipt);
        ownStops.put(decision.workload(), stop);
        successor.ifPresent(
                id -> stopsFor.computeIfAbsent(id, key -> new ArrayList<>()).add(stop));
        WorkloadPhase.Holding holding = (WorkloadPhase.Holding)
                requireInputs().workload(decision.workload()).state();
        return receipt(
                decision, holding.allocation().pool(), Optional.empty(), List.of(), List.of(stop), Optional.empty());
    }

    /** Records a nomination, for a preemptor or for a victim that moves. */
    private DecisionReceipt receiptOfNomination(Decision.Nominate nominate) {
        PoolId pool = nominate.place().pool();
        Optional<Attempt> turn = attemptOf(nominate.workload());
        List<DecisionReceipt.Stop> stops = turn.isPresent()
                ? stopsFor.getOrDefault(nominate.workload(), List.of())
                : Optional.ofNullable(ownStops.get(nominate.workload())).stream()
                        .toList();
        return receipt(
                nominate, pool, turn, turn.map(own -> own.upTo(pool)).orElse(List.of()), stops, Optional.empty());
    }

    private DecisionReceipt receiptOfWithdrawal(Decision.WithdrawNomination withdrawNomination) {
        WithdrawnNomination lapse = Objects.requireNonNull(withdrawnNomination);
        withdrawnNomination = null;
        return receipt(
                withdrawNomination,
                lapse.place().pool(),
                Optional.empty(),
                List.of(),
                List.of(),
                Optional.of(lapse.reason()));
    }

    private Optional<Attempt> attemptOf(WorkloadId workload) {
        return Optional.ofNullable(attempt).filter(own -> own.workload().equals(workload));
    }

    private DecisionReceipt receipt(
            Decision decision,
            PoolId pool,
            Optional<Attempt> turn,
            List<Reason> notTaken,
            List<DecisionReceipt.Stop> stops,
            Optional<NominationEnd> nominationEnd) {
        List<EvictionReceipt.Share> before = new ArrayList<>();
        List<EvictionReceipt.Share> after = new ArrayList<>();
        QuotaPath path = requireInputs().workload(decision.workload()).path();
        for (QuotaNode leaf : requireState().cluster().bindingLeaves(pool, path)) {
            for (QuotaNode node : leaf.belowRoot()) {
                EvictionReceipt.Share now = node.share();
                before.add(shares.getOrDefault(node, now));
                after.add(now);
                shares.put(node, now);
            }
        }
        return new DecisionReceipt(decision, turn.map(Attempt::turn), notTaken, before, after, stops, nominationEnd);
    }

    private DeclaredState requireInputs() {
        return Objects.requireNonNull(declaredState);
    }

    private SchedulingState requireState() {
        return Objects.requireNonNull(schedulingState);
    }
}
