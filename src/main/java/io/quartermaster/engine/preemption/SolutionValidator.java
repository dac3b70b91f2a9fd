package io.quartermaster.engine.preemption;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.EvictionCause;
import io.quartermaster.engine.model.EvictionReceipt;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.placement.Availability;
import io.quartermaster.engine.placement.Booking;
import io.quartermaster.engine.placement.Cluster;
import io.quartermaster.engine.placement.PlacementRequest;
import io.quartermaster.engine.placement.Transaction;
import io.quartermaster.engine.quota.QuotaAdmission;
import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.QuotaRequest;
import io.quartermaster.engine.quota.UsageView;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Validates the result of a search by simulating it to the end: the preemptor at its place, and victims moved where
 * there is room for them. It takes the transaction as the search left it, and rolls it back.
 */
final class SolutionValidator {
    private final Cluster cluster;
    private final Transaction transaction;
    private final EvictionRules rules;
    private final Preemptor preemptor;
    private final Map<QuotaNode, Long> usedBefore = new LinkedHashMap<>();

    SolutionValidator(Cluster cluster, Transaction transaction, EvictionRules evictionRules, Preemptor preemptor) {
        this.cluster = cluster;
        this.transaction = transaction;
        this.rules = evictionRules;
        this.preemptor = preemptor;
        for (QuotaNode node : preemptor.quotaRequest().path()) {
            usedBefore.put(node, node.used().projected());
        }
    }

    /** Whether every chosen workload has another place or could stay. */
    boolean canAllMove(VictimSearch.Solution found) {
        int before = transaction.checkpoint();
        transaction.book(preemptor.at(found.place()));
        boolean all = true;
        for (EvictionUnit victim : largestFirst(found.chosen())) {
            Optional<Allocation> place = place(victim.candidate());
            if (place.isEmpty()) {
                all = false;
                break;
            }
            transaction.book(victim.candidate().booking().at(place.get()));
        }
        transaction.rollbackTo(before);
        return all;
    }

    private static List<EvictionUnit> largestFirst(List<EvictionUnit> evictionUnits) {
        List<EvictionUnit> order = new ArrayList<>(evictionUnits.reversed());
        order.sort(Comparator.<EvictionUnit>comparingLong(
                        evictionUnit -> evictionUnit.booking().gpuMilli())
                .reversed()
                .thenComparing(evictionUnit -> evictionUnit.candidate().id()));
        return order;
    }

    /** The eviction plan, if every victim has another place. */
    Optional<EvictionPlan> acceptIfAllMove(VictimSearch.Solution found) {
        return validate(found, true);
    }

    /** The eviction plan, if all rights hold for the result. */
    Optional<EvictionPlan> acceptIfPermitted(VictimSearch.Solution found) {
        return validate(found, false);
    }

    private Optional<EvictionPlan> validate(VictimSearch.Solution found, boolean allMustMove) {
        Booking claim = preemptor.at(found.place());
        transaction.book(claim);
        List<EvictionUnit> victims = merged(found.chosen());
        SortedMap<WorkloadId, Booking> moved = moveWhereThereIsRoom(victims, claim, allMustMove);
        boolean good = allMustMove ? moved.size() == victims.size() : !preemptsBeyondItsShare(victims);
        List<List<EvictionReceipt.Share>> after = new ArrayList<>();
        victims.forEach(victim -> after.add(shares(victim.candidate())));
        transaction.rollback();
        return good
                ? Optional.of(new EvictionPlan(found.place(), evictions(found, victims, moved, after)))
                : Optional.empty();
    }

    /** The units by workload, in the order of choice; all units of one workload are merged. */
    static List<EvictionUnit> merged(List<EvictionUnit> evictionUnits) {
        Map<WorkloadId, EvictionUnit> byWorkload = new LinkedHashMap<>();
        for (EvictionUnit evictionUnit : evictionUnits) {
            byWorkload.merge(evictionUnit.candidate().id(), evictionUnit, EvictionUnit::with);
        }
        return List.copyOf(byWorkload.values());
    }

    private boolean preemptsBeyondItsShare(List<EvictionUnit> victims) {
        boolean ownGroup = victims.stream()
                .anyMatch(victim -> victim.candidate().booking().path().equals(preemptor.path()));
        if (!ownGroup) {
            return false;
        }
        for (Map.Entry<QuotaNode, Long> entry : usedBefore.entrySet()) {
            long after = entry.getKey().used().projected();
            if (after > entry.getKey().entitledGpuMilli() && after > entry.getValue()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Moves victims for which there is another place. It begins with the last chosen, or with the largest if all must
     * move.
     */
    private SortedMap<WorkloadId, Booking> moveWhereThereIsRoom(
            List<EvictionUnit> victims, Booking claim, boolean allMustMove) {
        List<EvictionUnit> order = allMustMove ? largestFirst(victims) : victims.reversed();
        SortedMap<WorkloadId, Booking> moved = new TreeMap<>();
        for (EvictionUnit victim : order) {
            Optional<Booking> elsewhere =
                    victim.gangCore() ? placeElsewhere(victim.candidate(), allMustMove) : Optional.empty();
            if (elsewhere.isPresent()) {
                int before = transaction.checkpoint();
                moved.put(victim.candidate().id(), elsewhere.get());
                transaction.book(elsewhere.get());
                if (!allMustMove && (!stillPermitted(victims, claim, moved) || preemptsBeyondItsShare(victims))) {
                    moved.remove(victim.candidate().id());
                    transaction.rollbackTo(before);
                }
            }
        }
        return moved;
    }

    /**
     * Whether each victim could still be evicted, in the order of choice, and the preemptor admitted at the end. Moved
     * workloads count at their new places. It replays this in the quota trees.
     */
    private boolean stillPermitted(List<EvictionUnit> victims, Booking claim, SortedMap<WorkloadId, Booking> moved) {
        int before = transaction.checkpoint();
        transaction.releaseInTrees(claim);
        moved.values().forEach(transaction::releaseInTrees);
        victims.forEach(victim -> transaction.bookInTrees(victim.booking()));
        boolean rightful = true;
        for (EvictionUnit victim : victims) {
            rightful &= rules.mayEvict(preemptor, victim.candidate());
            transaction.releaseInTrees(victim.booking());
            Booking elsewhere = moved.get(victim.candidate().id());
            if (elsewhere != null) {
                transaction.bookInTrees(elsewhere);
            }
        }
        rightful &= QuotaAdmission.projected(preemptor.quotaRequest()).isEmpty();
        transaction.rollbackTo(before);
        return rightful;
    }

    private Optional<Booking> placeElsewhere(EvictionCandidate evictionCandidate, boolean evenOverQuota) {
        Booking booking = evictionCandidate.booking();
        QuotaRequest quotaRequest = cluster.quotaRequest(booking, false);
        Optional<QuotaAdmission.Violation> violation = evenOverQuota
                ? QuotaAdmission.forNominated(quotaRequest, UsageView.PROJECTED)
                : QuotaAdmission.projected(quotaRequest);
        if (violation.isPresent()) {
            return Optional.empty();
        }
        return place(evictionCandidate)
                .filter(place -> !place.equals(evictionCandidate.allocation()))
                .map(booking::at);
    }

    private Optional<Allocation> place(EvictionCandidate evictionCandidate) {
        if (!evictionCandidate.isComplete()) {
            return Optional.empty();
        }
        List<Integer> numbers = new ArrayList<>();
        evictionCandidate.allocation().workers().forEach(worker -> numbers.add(worker.number()));
        Booking booking = evictionCandidate.booking();
        return preemptor
                .poolCapacity()
                .place(
                        new PlacementRequest(booking.shape(), numbers, booking.path(), node -> true),
                        Availability.AFTER_RELEASES);
    }

    private List<EvictionPlan.Eviction> evictions(
            VictimSearch.Solution found,
            List<EvictionUnit> victims,
            SortedMap<WorkloadId, Booking> moved,
            List<List<EvictionReceipt.Share>> after) {
        List<EvictionReceipt.Considered> considered = considered(found, moved);
        List<EvictionPlan.Eviction> evictions = new ArrayList<>();
        List<List<EvictionReceipt.Share>> before = new ArrayList<>();
        victims.forEach(victim -> before.add(shares(victim.candidate())));
        for (int i = 0; i < victims.size(); i++) {
            EvictionUnit victim = victims.get(i);
            Optional<Allocation> movedTo =
                    Optional.ofNullable(moved.get(victim.candidate().id())).map(Booking::allocation);
            EvictionReceipt.Right right = movedTo.isPresent() ? EvictionReceipt.Right.MOVED : right(victim.candidate());
            evictions.add(new EvictionPlan.Eviction(
                    victim.candidate(),
                    victim.booking(),
                    victim.gangCore(),
                    cause(right),
                    movedTo,
                    new EvictionReceipt(right, before.get(i), after.get(i), considered)));
            transaction.releaseInTrees(victim.booking());
        }
        transaction.rollback();
        return evictions;
    }

    /** The right at this point of the replay. The use is at least what it was when the victim was chosen. */
    private EvictionReceipt.Right right(EvictionCandidate victim) {
        return rules.reclaimRight(preemptor, victim).orElse(EvictionReceipt.Right.PRIORITY);
    }

    private static EvictionCause cause(EvictionReceipt.Right right) {
        return switch (right) {
            case RESERVED, FAIR_SHARE -> EvictionCause.RECLAIM;
            case PRIORITY -> EvictionCause.PREEMPT;
            case MOVED -> EvictionCause.CONSOLIDATE;
            case DRAINED -> EvictionCause.DRAIN;
            case CLOSED -> EvictionCause.CLOSE;
            case BUDGET_USED_UP -> EvictionCause.BUDGET;
            case INCOMPLETE -> EvictionCause.INCOMPLETE;
        };
    }

    private static List<EvictionReceipt.Considered> considered(
            VictimSearch.Solution found, SortedMap<WorkloadId, Booking> moved) {
        Map<WorkloadId, EvictionReceipt.Outcome> outcomes = new LinkedHashMap<>();
        for (EvictionUnit evictionUnit : found.chosen()) {
            boolean isMoved = moved.containsKey(evictionUnit.candidate().id());
            outcomes.put(
                    evictionUnit.candidate().id(),
                    isMoved ? EvictionReceipt.Outcome.MOVED : EvictionReceipt.Outcome.STOPPED);
        }
        found.spared()
                .forEach(evictionUnit ->
                        outcomes.putIfAbsent(evictionUnit.candidate().id(), EvictionReceipt.Outcome.SPARED));
        List<EvictionReceipt.Considered> considered = new ArrayList<>();
        outcomes.forEach((id, outcome) -> considered.add(new EvictionReceipt.Considered(id, outcome)));
        return considered;
    }

    private List<EvictionReceipt.Share> shares(EvictionCandidate victim) {
        List<EvictionReceipt.Share> shares = new ArrayList<>();
        for (EvictionRules.Pair pair : rules.pairs(preemptor, victim)) {
            shares.add(pair.preemptorBranch().share());
            if (pair.victimBranch() != pair.preemptorBranch()) {
                shares.add(pair.victimBranch().share());
            }
        }
        return shares;
    }
}
