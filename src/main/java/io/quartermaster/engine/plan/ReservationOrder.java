package io.quartermaster.engine.plan;

import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.order.Candidate;
import io.quartermaster.engine.order.CandidateQueue;
import io.quartermaster.engine.state.SchedulingClass;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * The order in which classes get backfill reservations: the order of start without the request, as for the right to a
 * reservation. Between groups, the workload that has waited longest is first. Shares change with every workload that
 * ends. By shares, another group would overtake at the very moment when the whole place is free.
 */
final class ReservationOrder {
    private static final Comparator<Candidate> LONGEST_WAITING = Comparator.<Candidate>comparingLong(
                    candidate -> candidate.head().submittedMillis())
            .thenComparingLong(candidate -> candidate.head().sequence())
            .thenComparing(candidate -> candidate.head().id())
            .thenComparingLong(candidate -> candidate.schedulingClass().number());

    private final CandidateQueue candidateQueue;
    private final List<Candidate> rest;
    private final TreeSet<Candidate> contenders = new TreeSet<>(LONGEST_WAITING);
    private final Map<QuotaPath, TreeSet<Candidate>> ofGroups = new HashMap<>();

    /** @param candidates the candidates, each without its request */
    ReservationOrder(CandidateQueue candidateQueue, Collection<Candidate> candidates) {
        this.candidateQueue = candidateQueue;
        this.rest = new ArrayList<>(candidates);
    }

    boolean isEmpty() {
        return rest.isEmpty() && contenders.isEmpty();
    }

    /** Removes and returns the next class; the order must not be empty. */
    SchedulingClass next() {
        if (contenders.isEmpty() || !candidateQueue.ordersByTreesAlone()) {
            contend();
        }
        TreeSet<Candidate> ofGroup = ofGroups.get(path(contenders.first()));
        Candidate next = ofGroup == null ? contenders.first() : ofGroup.removeFirst();
        contenders.remove(next);
        return next.schedulingClass();
    }

    /** Takes the candidates that no other precedes by reservation, pool or profile. */
    private void contend() {
        rest.addAll(contenders);
        contenders.clear();
        ofGroups.clear();
        List<Candidate> finalists = candidateQueue.finalists(rest);
        contenders.addAll(finalists);
        rest.removeAll(contenders);
        for (Candidate candidate : finalists) {
            ofGroups.computeIfAbsent(path(candidate), path -> new TreeSet<>(Candidate.IN_GROUP))
                    .add(candidate);
        }
    }

    private static QuotaPath path(Candidate candidate) {
        return candidate.schedulingClass().key().path();
    }
}
