package io.quartermaster.engine.order;

import io.quartermaster.engine.model.Turn;
import io.quartermaster.engine.state.Line;

import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.Ratio;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** Finds out whom an offer came before, and by what: the order read backwards, for receipts. */
public final class Precedence {
    private final Offer chosen;
    private final List<Turn.Comparison> won = new ArrayList<>();

    private Precedence(Offer chosen) {
        this.chosen = chosen;
    }

    /** How an offer came to be next in an order. */
    public static Turn of(Offer chosen, Order order) {
        List<Offer> contenders = order.contenders(order.offers());
        Precedence precedence = new Precedence(chosen);
        precedence.compareTrees(contenders);
        precedence.compareBranches(contenders);
        precedence.compareInGroup(contenders);
        boolean poolOrders = !chosen.space().pool().profileOrder().isEmpty();
        boolean profileOrders = !order.pathOrder(chosen).isEmpty();
        return new Turn(
                chosen.within(),
                order.offers().size(),
                poolOrders ? OptionalInt.of(order.indexInPool(chosen)) : OptionalInt.empty(),
                profileOrders ? OptionalInt.of(order.indexInProfile(chosen)) : OptionalInt.empty(),
                precedence.won);
    }

    /** Between trees nothing counts but who was submitted first. */
    private void compareTrees(List<Offer> contenders) {
        QuotaNode root = chosen.leaf().tree().root();
        first(contenders.stream()
                        .filter(offer -> offer.leaf().tree() != chosen.leaf().tree())
                        .toList())
                .ifPresent(other -> add(
                        bySubmission(other), root, other, other.leaf().tree().root()));
    }

    private void compareBranches(List<Offer> contenders) {
        QuotaNode above = chosen.leaf().tree().root();
        for (QuotaNode branch : chosen.leaf().belowRoot().reversed()) {
            List<Offer> beside = new ArrayList<>(contenders);
            QuotaNode parent = above;
            beside.removeIf(offer -> !parent.covers(offer.leaf()) || branch.covers(offer.leaf()));
            first(beside).ifPresent(other -> {
                QuotaNode others = other.leaf().branchBelow(parent);
                add(byShares(branch, others, other), branch, other, others);
            });
            above = branch;
        }
    }

    private void compareInGroup(List<Offer> contenders) {
        List<Offer> beside = new ArrayList<>(contenders);
        beside.removeIf(offer -> offer.leaf() != chosen.leaf() || offer.line() == chosen.line());
        Line line = chosen.line();
        if (line.members().size() > 1) {
            beside.add(chosen.with(line.members().get(1)));
        }
        beside.stream()
                .min(Offer.IN_GROUP)
                .ifPresent(other -> add(inGroup(other), chosen.leaf(), other, chosen.leaf()));
    }

    private static Optional<Offer> first(List<Offer> offers) {
        return offers.isEmpty() ? Optional.empty() : Optional.of(Order.firstByTrees(offers));
    }

    private void add(Turn.By by, QuotaNode own, Offer other, QuotaNode others) {
        won.add(new Turn.Comparison(by, side(own, chosen), side(others, other)));
    }

    private static Turn.Side side(QuotaNode node, Offer offer) {
        return new Turn.Side(
                offer.head().id(),
                node.tree().scope(),
                node.path(),
                node.rank(),
                node.used().next(),
                offer.ask().gpuMilli(),
                Branch.share(node, offer));
    }

    /** What {@link Branch#compare} tells two branches apart by. */
    private Turn.By byShares(QuotaNode own, QuotaNode others, Offer other) {
        if (own.rank() != others.rank()) {
            return Turn.By.RANK;
        }
        long share = Branch.share(own, chosen);
        long ofOther = Branch.share(others, other);
        long used = own.used().next();
        long usedByOther = others.used().next();
        if (Ratio.compare(
                        used + chosen.ask().gpuMilli(),
                        share,
                        usedByOther + other.ask().gpuMilli(),
                        ofOther)
                != 0) {
            return Turn.By.SHARE_WITH_REQUEST;
        }
        if (Ratio.compare(used, share, usedByOther, ofOther) != 0) {
            return Turn.By.SHARE;
        }
        return QuotaNode.comparePast(own, others) != 0 ? Turn.By.PAST_USE : bySubmission(other);
    }

    /** What {@link Offer#IN_GROUP} tells two of one group apart by. */
    private Turn.By inGroup(Offer other) {
        if (chosen.line().key().priority() != other.line().key().priority()) {
            return Turn.By.PRIORITY;
        }
        if (chosen.part() != other.part()) {
            return Turn.By.WHOLE;
        }
        boolean byPlace = Line.isAtHead(chosen.head()) == Line.isAtHead(other.head())
                && Line.place(chosen.head()) != Line.place(other.head());
        return byPlace ? Turn.By.PLACE : bySubmission(other);
    }

    private Turn.By bySubmission(Offer other) {
        return Line.isAtHead(chosen.head()) == Line.isAtHead(other.head()) ? Turn.By.SUBMITTED : Turn.By.AT_HEAD;
    }
}
