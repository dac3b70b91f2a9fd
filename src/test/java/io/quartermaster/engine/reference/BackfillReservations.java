package io.quartermaster.engine.reference;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadPhase;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * The backfill reservations of one plan: devices kept for work that has waited longer than {@code patience} for fit
 * alone, and whose group is below its share without it.
 */
final class BackfillReservations {
    /** No end is known, so nothing backfills. */
    private static final long NEVER = Long.MAX_VALUE;

    private final Settings settings;
    private final Facts facts;
    private final long nowMillis;
    private final List<Claim> claims = new ArrayList<>();

    /** The devices of a place that come free at a time. */
    private record Claim(Candidate candidate, Allocation place, long freeAtMillis) {}

    private record Ending(Workload workload, Allocation leaves, long startedMillis, long atMillis) {}

    BackfillReservations(Settings settings, Facts facts, long nowMillis) {
        this.settings = settings;
        this.facts = facts;
        this.nowMillis = nowMillis;
    }

    /**
     * Makes the reservations, in the order of start without the request. Between groups, the first submitted
     * workload goes first (ADR 13).
     *
     * @param eligible the candidates of a class, one for each pool in which only fit prevents its start
     * @param requests the request of a class for devices
     */
    void reserve(
            Collection<Line> lines,
            Holdings holdings,
            Function<Line, List<Candidate>> eligible,
            Function<Line, Placement.Request> requests) {
        Map<Line, Candidate> left = new LinkedHashMap<>();
        for (Line line : lines) {
            if (isDue(line)) {
                eligible.apply(line).stream()
                        .findFirst()
                        .ifPresent(candidate -> left.put(line, candidate.withoutRequest(holdings)));
            }
        }
        while (!left.isEmpty() && claims.size() < settings.backfillReservations()) {
            Line next = first(left.values());
            left.remove(next);
            earliest(eligible.apply(next), requests.apply(next), holdings).ifPresent(claims::add);
        }
    }

    /** A class is due when its first workload that is not a victim is due, or when a victim is due (ADR 13). */
    private boolean isDue(Line line) {
        if (settings.patienceMillis().isEmpty() || line.isGrowth()) {
            return false;
        }
        boolean firstOfOthers = true;
        for (Workload member : line.members()) {
            boolean counts = Line.isAtHead(member) || firstOfOthers;
            firstOfOthers &= Line.isAtHead(member);
            if (counts && member.waitsSinceMillis() + settings.patienceMillis().getAsLong() <= nowMillis) {
                return true;
            }
        }
        return false;
    }

    private Line first(Collection<Candidate> candidates) {
        List<Candidate> left = Candidate.finalists(candidates, facts);
        Workload oldest = left.stream()
                .map(candidate -> candidate.line().head())
                .min(Comparator.comparingLong(Workload::submittedMillis)
                        .thenComparingLong(Workload::sequence)
                        .thenComparing(Workload::id))
                .orElseThrow();
        return left.stream()
                .filter(candidate -> candidate.line().key().path().equals(oldest.path()))
                .min(Candidate.IN_GROUP)
                .orElseThrow()
                .line();
    }

    /** The place that comes free earliest, of all pools. */
    private Optional<Claim> earliest(List<Candidate> candidates, Placement.Request request, Holdings holdings) {
        Optional<Claim> best = Optional.empty();
        for (Candidate candidate : candidates) {
            Optional<Allocation> now = candidate.pool().place(request, keep(holdings, Moment.NOW), Moment.NOW);
            if (now.isPresent()) {
                return Optional.of(new Claim(candidate, now.get(), nowMillis));
            }
            Optional<Claim> later = afterOthersEnd(candidate, request, holdings);
            if (later.isPresent() && (best.isEmpty() || later.get().freeAtMillis < best.get().freeAtMillis)) {
                best = later;
            }
        }
        return best;
    }

    /** Running work ends in the order of its stated times, until there is a place. */
    private Optional<Claim> afterOthersEnd(Candidate candidate, Placement.Request request, Holdings holdings) {
        PoolId pool = candidate.pool().pool.id();
        List<Ending> endings = new ArrayList<>();
        for (Workload workload : facts.workloads.values()) {
            if (workload.state() instanceof WorkloadPhase.Holding holding
                    && holding.allocation().pool().equals(pool)) {
                long end = workload.maxRuntimeMillis().isEmpty()
                        ? NEVER
                        : holding.startedMillis() + workload.maxRuntimeMillis().getAsLong();
                endings.add(new Ending(
                        workload,
                        holding.allocation().without(Holdings.leaving(holding)),
                        holding.startedMillis(),
                        end));
            }
        }
        endings.removeIf(ending -> ending.leaves.workers().isEmpty());
        endings.sort(Comparator.comparingLong(Ending::atMillis)
                .thenComparingLong(Ending::startedMillis)
                .thenComparing(ending -> ending.workload.id()));
        Optional<Allocation> place = candidate.pool().place(request, keep(holdings, Moment.LATER), Moment.LATER);
        Holdings then = holdings;
        long freeAt = nowMillis;
        for (Ending ending : endings) {
            if (place.isEmpty()) {
                then = then.withoutLater(ending.workload.id(), ending.leaves);
                freeAt = Math.max(freeAt, ending.atMillis);
                place = candidate.pool().place(request, keep(then, Moment.LATER), Moment.LATER);
            }
        }
        long free = freeAt;
        return place.map(found -> new Claim(candidate, found, Math.max(free, lastToLeave(found))));
    }

    /** When the evicted work on the devices of a place has left. */
    private long lastToLeave(Allocation place) {
        long last = nowMillis;
        for (Workload workload : facts.workloads.values()) {
            if (workload.state() instanceof WorkloadPhase.Holding holding) {
                Allocation goes = holding.allocation()
                        .without(Holdings.numbers(holding.allocation().without(Holdings.leaving(holding))));
                if (areTogether(goes, place)) {
                    last = switch (holding.phase()) {
                        case WorkloadPhase.Phase.Running running -> last;
                        case WorkloadPhase.Phase.Incomplete incomplete -> last;
                        case WorkloadPhase.Phase.Stopping stopping -> Math.max(last, stopping.deadlineMillis());
                        case WorkloadPhase.Phase.Shrinking shrinking -> Math.max(last, shrinking.deadlineMillis());
                    };
                }
            }
        }
        return last;
    }

    /** Whether both use some device; in a counted pool, whether both are in it. */
    private static boolean areTogether(Allocation one, Allocation other) {
        return one.pool().equals(other.pool())
                && one.workers().stream()
                        .anyMatch(a -> other.workers().stream().anyMatch(b -> areTogether(a.place(), b.place())));
    }

    private static boolean areTogether(Allocation.Place one, Allocation.Place other) {
        return one instanceof Allocation.Place.Counted
                || one instanceof Allocation.Place.OnNode a
                        && other instanceof Allocation.Place.OnNode b
                        && a.node().equals(b.node())
                        && (a.shares().isEmpty()
                                || b.shares().isEmpty()
                                || a.shares().stream().anyMatch(share -> b.shares().stream()
                                        .anyMatch(beside -> beside.device() == share.device())));
    }

    boolean any() {
        return !claims.isEmpty();
    }

    boolean has(Line line) {
        return claims.stream().anyMatch(claim -> isFor(claim, line));
    }

    private static boolean isFor(Claim claim, Line line) {
        return claim.candidate.line().key().equals(line.key());
    }

    /** Ends the reservation of a class whose head starts or gets a nomination. */
    void fulfil(Line line) {
        claims.removeIf(claim -> isFor(claim, line));
    }

    /** The holdings with the free parts of all reservations. */
    private Holdings keep(Holdings holdings, Moment moment) {
        Holdings kept = holdings;
        for (Claim claim : claims) {
            kept = claim.candidate
                    .pool()
                    .keepFreePart(
                            claim.place,
                            Holdings.Owner.of(claim.candidate.line().head()),
                            kept,
                            moment);
        }
        return kept;
    }

    /**
     * The holdings with the reservations that bind a candidate.
     *
     * @param backfill whether work that ends before the whole place is free passes a reservation
     */
    Holdings binding(Candidate candidate, Holdings holdings, boolean backfill) {
        Holdings kept = keep(holdings, Moment.NOW);
        for (Claim claim : claims) {
            if (!binds(claim, candidate) || backfill && endsBefore(claim, candidate)) {
                kept = kept.withoutKept(claim.candidate.line().head().id());
            }
        }
        return kept;
    }

    /** Not its own; not for higher priority in the group; not for work within R while the holder is beyond its own. */
    private static boolean binds(Claim claim, Candidate candidate) {
        Workload holder = claim.candidate.line().head();
        Workload other = candidate.line().head();
        boolean sameGroup = holder.path().equals(other.path());
        boolean mayPreempt = sameGroup && other.priority() > holder.priority();
        boolean mayReclaim = !sameGroup
                && candidate.withinReserved()
                && !claim.candidate.withinReserved()
                && !isFenced(claim.candidate, candidate);
        return !isFor(claim, candidate.line()) && !mayPreempt && !mayReclaim;
    }

    /** Reservations outside a fence bind all work inside it (ADR 24). */
    private static boolean isFenced(Candidate holder, Candidate other) {
        if (holder.pool() != other.pool()) {
            return false;
        }
        for (int i = 0; i < other.request().leaves().size(); i++) {
            QuotaBranch ofHolder = holder.request().leaves().get(i);
            for (QuotaBranch node = other.request().leaves().get(i); !node.covers(ofHolder); node = node.above()) {
                if (node.terms.fence()) {
                    return true;
                }
            }
        }
        return false;
    }

    private boolean endsBefore(Claim claim, Candidate candidate) {
        Workload workload = candidate.line().head();
        return workload.maxRuntimeMillis().isPresent()
                && claim.freeAtMillis != NEVER
                && nowMillis + workload.maxRuntimeMillis().getAsLong() <= claim.freeAtMillis;
    }
}
