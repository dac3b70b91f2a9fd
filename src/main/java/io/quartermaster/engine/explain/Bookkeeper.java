package io.quartermaster.engine.explain;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.DecisionReceipt;
import io.quartermaster.engine.model.GivenUp;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Reason;
import io.quartermaster.engine.model.Receipt;
import io.quartermaster.engine.model.Turn;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadState;
import io.quartermaster.engine.order.Offer;
import io.quartermaster.engine.order.Order;
import io.quartermaster.engine.order.Precedence;
import io.quartermaster.engine.plan.Recorder;
import io.quartermaster.engine.state.Books;
import io.quartermaster.engine.state.Facts;
import io.quartermaster.engine.state.Line;

import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.QuotaTree;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Writes the receipts of a plan while it is made. */
public final class Bookkeeper implements Recorder {
    private final List<DecisionReceipt> receipts = new ArrayList<>();
    private final Map<QuotaNode, Receipt.Share> shares = new HashMap<>();
    private final Map<WorkloadId, DecisionReceipt.Stop> ownStops = new HashMap<>();
    private final Map<WorkloadId, List<DecisionReceipt.Stop>> stopsFor = new HashMap<>();
    private @Nullable Facts facts;
    private @Nullable Books books;
    private @Nullable Tried tried;
    private @Nullable Lapse givenUp;

    /** A place that is no longer kept. */
    private record Lapse(Allocation place, GivenUp why) {}

    /** Whose turn it is, and why it does not start in its pools, in its order. */
    private record Tried(WorkloadId workload, Turn turn, List<Reason> inPools) {

        /** Why it is in no pool before this one. */
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
    public void begins(Facts known, Books open) {
        facts = known;
        books = open;
        open.cluster().trees().stream().map(QuotaTree::root).forEach(this::note);
    }

    private void note(QuotaNode node) {
        shares.put(node, node.share());
        node.children().forEach(this::note);
    }

    @Override
    public void turn(Offer offer, Order order) {
        Explainer explainer = new Explainer(facts(), books());
        Line line = offer.line();
        List<Reason> reasons = line.firstInQueue() == null ? explainer.reasons(line) : explainer.reasonsOfFirst(line);
        tried = new Tried(offer.head().id(), Precedence.of(offer, order), reasons);
    }

    @Override
    public void gaveUp(Allocation place, GivenUp why) {
        givenUp = new Lapse(place, why);
    }

    @Override
    public void took(Decision decision) {
        receipts.add(
                switch (decision) {
                    case Decision.Start start ->
                        started(start, start.allocation().pool(), start.rule());
                    case Decision.Grow grow -> started(grow, grow.added().pool(), grow.rule());
                    case Decision.Preempt preempt -> stopped(preempt, preempt.successor(), preempt.receipt());
                    case Decision.Shrink shrink -> stopped(shrink, shrink.successor(), shrink.receipt());
                    case Decision.Nominate nominate -> keeps(nominate);
                    case Decision.Denominate denominate -> lets(denominate);
                });
    }

    private DecisionReceipt started(Decision decision, PoolId pool, Decision.Rule rule) {
        boolean wasKept = rule == Decision.Rule.NOMINATED;
        Optional<Tried> turn = wasKept ? Optional.empty() : tried(decision.workload());
        return receipt(
                decision, pool, turn, turn.map(own -> own.before(pool)).orElse(List.of()), List.of(), Optional.empty());
    }

    private DecisionReceipt stopped(Decision decision, Optional<WorkloadId> successor, Receipt receipt) {
        DecisionReceipt.Stop stop = new DecisionReceipt.Stop(decision.workload(), receipt);
        ownStops.put(decision.workload(), stop);
        successor.ifPresent(
                id -> stopsFor.computeIfAbsent(id, key -> new ArrayList<>()).add(stop));
        WorkloadState.Holding holding =
                (WorkloadState.Holding) facts().workload(decision.workload()).state();
        return receipt(
                decision, holding.allocation().pool(), Optional.empty(), List.of(), List.of(stop), Optional.empty());
    }

    /** A place is kept for whoever makes room, or for a victim that is moved. */
    private DecisionReceipt keeps(Decision.Nominate nominate) {
        PoolId pool = nominate.place().pool();
        Optional<Tried> turn = tried(nominate.workload());
        List<DecisionReceipt.Stop> stops = turn.isPresent()
                ? stopsFor.getOrDefault(nominate.workload(), List.of())
                : Optional.ofNullable(ownStops.get(nominate.workload())).stream()
                        .toList();
        return receipt(
                nominate, pool, turn, turn.map(own -> own.upTo(pool)).orElse(List.of()), stops, Optional.empty());
    }

    private DecisionReceipt lets(Decision.Denominate denominate) {
        Lapse lapse = Objects.requireNonNull(givenUp);
        givenUp = null;
        return receipt(
                denominate, lapse.place().pool(), Optional.empty(), List.of(), List.of(), Optional.of(lapse.why()));
    }

    private Optional<Tried> tried(WorkloadId workload) {
        return Optional.ofNullable(tried).filter(own -> own.workload().equals(workload));
    }

    private DecisionReceipt receipt(
            Decision decision,
            PoolId pool,
            Optional<Tried> turn,
            List<Reason> notTaken,
            List<DecisionReceipt.Stop> stops,
            Optional<GivenUp> why) {
        List<Receipt.Share> before = new ArrayList<>();
        List<Receipt.Share> after = new ArrayList<>();
        QuotaPath path = facts().workload(decision.workload()).path();
        for (QuotaNode leaf : books().cluster().bindingLeaves(pool, path)) {
            for (QuotaNode node : leaf.belowRoot()) {
                Receipt.Share now = node.share();
                before.add(shares.getOrDefault(node, now));
                after.add(now);
                shares.put(node, now);
            }
        }
        return new DecisionReceipt(decision, turn.map(Tried::turn), notTaken, before, after, stops, why);
    }

    private Facts facts() {
        return Objects.requireNonNull(facts);
    }

    private Books books() {
        return Objects.requireNonNull(books);
    }
}
