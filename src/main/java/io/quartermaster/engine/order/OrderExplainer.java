package io.quartermaster.engine.order;

import io.quartermaster.engine.model.OrderReceipt;
import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.Ratio;
import io.quartermaster.engine.state.SchedulingClass;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** Explains for receipts which candidates a candidate preceded, and by which criteria. */
public final class OrderExplainer {
    private final Candidate chosen;
    private final List<OrderReceipt.Comparison> won = new ArrayList<>();

    private OrderExplainer(Candidate chosen) {
        this.chosen = chosen;
    }

    /** The receipt for the position of a candidate that is next in a queue. */
    public static OrderReceipt of(Candidate chosen, CandidateQueue candidateQueue) {
        List<Candidate> contenders = candidateQueue.finalists(candidateQueue.candidates());
        OrderExplainer orderExplainer = new OrderExplainer(chosen);
        orderExplainer.compareTrees(contenders);
        orderExplainer.compareBranches(contenders);
        orderExplainer.compareInGroup(contenders);
        boolean poolOrders = !chosen.poolCapacity().pool().profileOrder().isEmpty();
        boolean profileOrders = !candidateQueue.pathOrder(chosen).isEmpty();
        return new OrderReceipt(
                chosen.withinReserved(),
                candidateQueue.candidates().size(),
                poolOrders ? OptionalInt.of(candidateQueue.indexInPool(chosen)) : OptionalInt.empty(),
                profileOrders ? OptionalInt.of(candidateQueue.indexInProfile(chosen)) : OptionalInt.empty(),
                orderExplainer.won);
    }

    /** Between trees only the time of submission counts. */
    private void compareTrees(List<Candidate> contenders) {
        QuotaNode root = chosen.leaf().tree().root();
        first(contenders.stream()
                        .filter(candidate ->
                                candidate.leaf().tree() != chosen.leaf().tree())
                        .toList())
                .ifPresent(other -> add(
                        bySubmission(other), root, other, other.leaf().tree().root()));
    }

    private void compareBranches(List<Candidate> contenders) {
        QuotaNode above = chosen.leaf().tree().root();
        for (QuotaNode branch : chosen.leaf().belowRoot().reversed()) {
            List<Candidate> beside = new ArrayList<>(contenders);
            QuotaNode parent = above;
            beside.removeIf(candidate -> !parent.covers(candidate.leaf()) || branch.covers(candidate.leaf()));
            first(beside).ifPresent(other -> {
                QuotaNode others = other.leaf().branchBelow(parent);
                add(byShares(branch, others, other), branch, other, others);
            });
            above = branch;
        }
    }

    private void compareInGroup(List<Candidate> contenders) {
        List<Candidate> beside = new ArrayList<>(contenders);
        beside.removeIf(candidate ->
                candidate.leaf() != chosen.leaf() || candidate.schedulingClass() == chosen.schedulingClass());
        SchedulingClass schedulingClass = chosen.schedulingClass();
        if (schedulingClass.members().size() > 1) {
            beside.add(chosen.with(schedulingClass.members().get(1)));
        }
        beside.stream()
                .min(Candidate.IN_GROUP)
                .ifPresent(other -> add(inGroup(other), chosen.leaf(), other, chosen.leaf()));
    }

    private static Optional<Candidate> first(List<Candidate> candidates) {
        return candidates.isEmpty() ? Optional.empty() : Optional.of(CandidateQueue.firstInTrees(candidates));
    }

    private void add(OrderReceipt.By by, QuotaNode own, Candidate other, QuotaNode others) {
        won.add(new OrderReceipt.Comparison(by, side(own, chosen), side(others, other)));
    }

    private static OrderReceipt.Side side(QuotaNode node, Candidate candidate) {
        return new OrderReceipt.Side(
                candidate.head().id(),
                node.tree().scope(),
                node.path(),
                node.rank(),
                node.used().projected(),
                candidate.quotaRequest().gpuMilli(),
                BranchIndex.share(node, candidate));
    }

    /** The criterion by which {@link BranchIndex#compare} distinguishes two branches. */
    private OrderReceipt.By byShares(QuotaNode own, QuotaNode others, Candidate other) {
        if (own.rank() != others.rank()) {
            return OrderReceipt.By.RANK;
        }
        long share = BranchIndex.share(own, chosen);
        long ofOther = BranchIndex.share(others, other);
        long used = own.used().projected();
        long usedByOther = others.used().projected();
        if (Ratio.compare(
                        used + chosen.quotaRequest().gpuMilli(),
                        share,
                        usedByOther + other.quotaRequest().gpuMilli(),
                        ofOther)
                != 0) {
            return OrderReceipt.By.SHARE_WITH_REQUEST;
        }
        if (Ratio.compare(used, share, usedByOther, ofOther) != 0) {
            return OrderReceipt.By.SHARE;
        }
        return QuotaNode.comparePast(own, others) != 0 ? OrderReceipt.By.PAST_USE : bySubmission(other);
    }

    /** The criterion by which {@link Candidate#IN_GROUP} distinguishes two candidates of one group. */
    private OrderReceipt.By inGroup(Candidate other) {
        if (chosen.schedulingClass().key().priority()
                != other.schedulingClass().key().priority()) {
            return OrderReceipt.By.PRIORITY;
        }
        if (chosen.part() != other.part()) {
            return OrderReceipt.By.WHOLE;
        }
        boolean byPlace = SchedulingClass.isAtHead(chosen.head()) == SchedulingClass.isAtHead(other.head())
                && SchedulingClass.place(chosen.head()) != SchedulingClass.place(other.head());
        return byPlace ? OrderReceipt.By.PLACE : bySubmission(other);
    }

    private OrderReceipt.By bySubmission(Candidate other) {
        return SchedulingClass.isAtHead(chosen.head()) == SchedulingClass.isAtHead(other.head())
                ? OrderReceipt.By.SUBMITTED
                : OrderReceipt.By.AT_HEAD;
    }
}
