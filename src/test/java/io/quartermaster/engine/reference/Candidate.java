package io.quartermaster.engine.reference;

import io.quartermaster.engine.model.ProfileId;
import io.quartermaster.engine.model.ProfileOrder;
import io.quartermaster.engine.model.QuotaPath;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The head of a scheduling class with the pool that it would try next. Work of several pools is classed by that pool
 * (ADR 13).
 */
record Candidate(Line line, Placement pool, Admission.Request request, boolean withinReserved, Attempt attempt) {

    /** What it would try. */
    enum Attempt {
        START,
        /** Make room without borrowing. */
        RECLAIM_RESERVED,
        MAKE_ROOM
    }

    /** Higher priority, whole workloads before surplus workers, then first submitted. */
    static final Comparator<Candidate> IN_GROUP = Comparator.comparingInt(
                    (Candidate candidate) -> -candidate.line.key().priority())
            .thenComparing(candidate -> candidate.line.isGrowth())
            .thenComparing(candidate -> candidate.line.head(), Line.FIRST_SUBMITTED);

    /** This candidate with the least request: the right to a backfill reservation is that without the request. */
    Candidate withoutRequest(Holdings holdings) {
        Admission.Request least = request.with(1);
        return new Candidate(line, pool, least, least.withinReserved(holdings), attempt);
    }

    /** The next of the candidates, of which there is at least one. */
    static Candidate first(Collection<Candidate> candidates, Cell cell, Facts facts, Holdings holdings) {
        List<Candidate> left = finalists(candidates, facts);
        // Between trees, the one that was submitted first.
        return cell.trees.values().stream()
                .map(tree -> firstBelow(tree.root, left, holdings))
                .filter(candidate -> candidate != null)
                .min(Comparator.comparing(candidate -> candidate.line.head(), Line.FIRST_SUBMITTED))
                .orElseThrow();
    }

    /** Criteria 1 to 3: within R, the pool's profile order, the profile's policy order. */
    static List<Candidate> finalists(Collection<Candidate> candidates, Facts facts) {
        List<Candidate> within =
                candidates.stream().filter(Candidate::withinReserved).toList();
        List<Candidate> left = within.isEmpty() ? List.copyOf(candidates) : within;
        left = keepLowest(left, candidate -> candidate.pool.pool.id().value(), Candidate::indexInPool);
        return keepLowest(
                left,
                candidate ->
                        candidate.line.key().profile().map(ProfileId::value).orElse(""),
                candidate -> candidate.indexInProfile(facts));
    }

    private static List<Candidate> keepLowest(
            List<Candidate> candidates, Function<Candidate, String> among, ToIntFunction<Candidate> index) {
        List<Candidate> kept = new ArrayList<>();
        for (Candidate candidate : candidates) {
            boolean isLowest = candidates.stream()
                    .filter(other -> among.apply(other).equals(among.apply(candidate)))
                    .allMatch(other -> index.applyAsInt(candidate) <= index.applyAsInt(other));
            if (isLowest) {
                kept.add(candidate);
            }
        }
        return kept;
    }

    private int indexInPool() {
        List<ProfileId> order = pool.pool.profileOrder();
        int index = line.key().profile().map(order::indexOf).orElse(-1);
        return index < 0 ? order.size() : index;
    }

    private int indexInProfile(Facts facts) {
        List<QuotaPath> order = Optional.ofNullable(
                        line.key().profile().map(facts.profiles::get).orElse(null))
                .map(ProfileOrder::pathOrder)
                .orElse(List.of());
        int index = order.indexOf(line.key().path());
        return index < 0 ? order.size() : index;
    }

    /** Criterion 4: each branch is represented by the first that it offers. */
    private static @Nullable Candidate firstBelow(QuotaBranch node, List<Candidate> candidates, Holdings holdings) {
        if (node.children.isEmpty()) {
            return candidates.stream()
                    .filter(candidate -> candidate.request.leaves().getFirst() == node)
                    .min(IN_GROUP)
                    .orElse(null);
        }
        Candidate best = null;
        QuotaBranch bestBranch = node;
        for (QuotaBranch child : node.children) {
            Candidate offer = firstBelow(child, candidates, holdings);
            if (offer != null && (best == null || compare(child, offer, bestBranch, best, holdings) < 0)) {
                best = offer;
                bestBranch = child;
            }
        }
        return best;
    }

    /** Lower rank, then lower (U + request)/S, then lower U/S, then first submitted. S is R in class 1, F after it. */
    private static int compare(QuotaBranch a, Candidate ofA, QuotaBranch b, Candidate ofB, Holdings holdings) {
        if (a.terms.rank() != b.terms.rank()) {
            return Integer.compare(a.terms.rank(), b.terms.rank());
        }
        long shareOfA = ofA.withinReserved ? a.terms.reserved() : a.fair;
        long shareOfB = ofB.withinReserved ? b.terms.reserved() : b.fair;
        long usedByA = a.used(holdings);
        long usedByB = b.used(holdings);
        int withRequest =
                compareRatios(usedByA + ofA.request.gpuMilli(), shareOfA, usedByB + ofB.request.gpuMilli(), shareOfB);
        int without = compareRatios(usedByA, shareOfA, usedByB, shareOfB);
        return withRequest != 0
                ? withRequest
                : without != 0 ? without : Line.FIRST_SUBMITTED.compare(ofA.line.head(), ofB.line.head());
    }

    /** Compares a/b with c/d; x/0 is last, and all x/0 are equal. */
    static int compareRatios(long a, long b, long c, long d) {
        return b == 0 || d == 0 ? Boolean.compare(b == 0, d == 0) : Long.compare(a * d, c * b);
    }
}
