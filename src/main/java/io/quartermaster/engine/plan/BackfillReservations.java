package io.quartermaster.engine.plan;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.order.Candidate;
import io.quartermaster.engine.order.CandidateQueue;
import io.quartermaster.engine.placement.Availability;
import io.quartermaster.engine.placement.Booking;
import io.quartermaster.engine.placement.PlacementRequest;
import io.quartermaster.engine.placement.PoolCapacity;
import io.quartermaster.engine.placement.RequestSignature;
import io.quartermaster.engine.placement.Transaction;
import io.quartermaster.engine.plan.ReservationHistory.FoundPlace;
import io.quartermaster.engine.quota.QuotaAdmission;
import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.QuotaRequest;
import io.quartermaster.engine.state.DeclaredState;
import io.quartermaster.engine.state.PoolRequest;
import io.quartermaster.engine.state.PoolRequestFactory;
import io.quartermaster.engine.state.Release;
import io.quartermaster.engine.state.SchedulingClass;
import io.quartermaster.engine.state.SchedulingState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;

/**
 * The backfill reservations of one plan. They are for work that has waited for longer than {@code patience} for fit
 * alone, and whose group is below its share without it. Such work gets the place that comes free earliest, by the
 * stated run times of running work. A reservation holds only the free part of its place. Only work that certainly ends
 * before the whole place is free may use that part meanwhile (EASY backfill: Lifka, JSSPP 1995). Every plan computes
 * its reservations from running and waiting work, so nothing is stored.
 *
 * <p>A reservation does not bind work that could evict its holder as soon as the holder runs. This is work of higher
 * priority in its group, and work of other groups within their reservation while the holder is beyond its own.
 */
public final class BackfillReservations {
    private final Settings settings;
    private final DeclaredState declaredState;
    private final SchedulingState schedulingState;
    private final PoolRequestFactory poolRequestFactory;
    private final long nowMillis;
    private final ReservationHistory history;
    private final List<Claim> claims = new ArrayList<>();
    private final Map<PoolId, ReleaseSchedule> releaseSchedules = new HashMap<>();
    private final Map<PoolId, ReleaseTimeline> timelines = new HashMap<>();
    private final Set<RequestSignature> withoutPlace = new HashSet<>();
    /** The releases after which an equal request got its place in this plan; the next one gets none before. */
    private final Map<RequestSignature, Integer> fewestReleases = new HashMap<>();

    BackfillReservations(
            Settings settings,
            DeclaredState declaredState,
            SchedulingState schedulingState,
            PoolRequestFactory poolRequestFactory,
            ReservationHistory history,
            long nowMillis) {
        this.history = history;
        this.settings = settings;
        this.declaredState = declaredState;
        this.schedulingState = schedulingState;
        this.poolRequestFactory = poolRequestFactory;
        this.nowMillis = nowMillis;
    }

    /** The time from which a class may get a reservation; empty if it never gets one. */
    public static OptionalLong dueMillis(Settings settings, SchedulingClass schedulingClass) {
        return settings.patienceMillis().isPresent() && !schedulingClass.isGrowth()
                ? OptionalLong.of(
                        waitsSince(schedulingClass) + settings.patienceMillis().getAsLong())
                : OptionalLong.empty();
    }

    /**
     * The start of the longest wait in a class. It considers only victims, which are at the head, and the first member
     * behind them.
     */
    private static long waitsSince(SchedulingClass schedulingClass) {
        long since = Long.MAX_VALUE;
        for (Workload member : schedulingClass.members()) {
            since = Math.min(since, member.waitsSinceMillis());
            if (!SchedulingClass.isAtHead(member)) {
                break;
            }
        }
        return since;
    }

    /** A backfill reservation; {@code held} is the part of its place that is held now. */
    private static final class Claim {
        private final Candidate candidate;
        private final Booking place;
        private final long freeAtMillis;
        private final FoundPlace foundPlace;
        private Optional<Booking> held = Optional.empty();
        private Optional<Booking> heldBefore = Optional.empty();
        private boolean suspended;

        Claim(Candidate candidate, Booking place, long freeAtMillis, FoundPlace foundPlace) {
            this.foundPlace = foundPlace;
            this.candidate = candidate;
            this.place = place;
            this.freeAtMillis = freeAtMillis;
        }

        void hold(Availability availability) {
            held = candidate.poolCapacity().freePart(place, availability);
            held.ifPresent(part -> candidate.poolCapacity().reserve(part));
            suspended = false;
        }

        void release() {
            held.ifPresent(part -> candidate.poolCapacity().unreserve(part));
            held = Optional.empty();
        }

        /** Releases it until it is held again. */
        void suspend() {
            heldBefore = held;
            release();
            suspended = true;
        }

        /** Holds again what it held when it was suspended. Nothing may have been booked or freed since. */
        void resume() {
            held = heldBefore;
            held.ifPresent(part -> candidate.poolCapacity().reserve(part));
            suspended = false;
        }

        /** The nodes of its place; none in a counted pool. */
        List<NodeId> nodes() {
            List<NodeId> nodes = new ArrayList<>();
            for (Allocation.Worker worker : place.allocation().workers()) {
                if (worker.place() instanceof Allocation.Place.OnNode on && !nodes.contains(on.node())) {
                    nodes.add(on.node());
                }
            }
            return nodes;
        }

        /** Whether another allocation is on one of its nodes, or in its pool if that is only counted. */
        boolean touches(Allocation other) {
            if (!other.pool().equals(place.allocation().pool())) {
                return false;
            }
            for (Allocation.Worker worker : place.allocation().workers()) {
                if (!(worker.place() instanceof Allocation.Place.OnNode on) || other.touches(on.node())) {
                    return true;
                }
            }
            return false;
        }
    }

    /** Makes the reservations of all classes that are due, in their order. */
    void reserve() {
        history.begin();
        List<SchedulingClass> due = new ArrayList<>();
        for (SchedulingClass schedulingClass : settings.patienceMillis().isPresent()
                ? schedulingState.schedulingClasses()
                : List.<SchedulingClass>of()) {
            OptionalLong from = dueMillis(settings, schedulingClass);
            boolean may = schedulingClass.isTurn()
                    && declaredState.accountStatus(schedulingClass.key().path()) == Change.AccountStatus.ACTIVE;
            if (may && from.isPresent() && from.getAsLong() <= nowMillis) {
                due.add(schedulingClass);
            }
        }
        Map<SchedulingClass, Candidate> withoutRequest = new LinkedHashMap<>();
        for (SchedulingClass schedulingClass : due) {
            eligible(schedulingClass).stream()
                    .findFirst()
                    .ifPresent(candidate -> withoutRequest.put(schedulingClass, withoutRequest(candidate)));
        }
        ReservationOrder order = new ReservationOrder(new CandidateQueue(declaredState), withoutRequest.values());
        while (!order.isEmpty() && claims.size() < settings.backfillReservations()) {
            earliest(order.next()).ifPresent(claim -> {
                ReleaseTimeline timeline =
                        timelines.get(claim.candidate.poolCapacity().pool().id());
                if (timeline != null) {
                    timeline.addReservation(claim.place);
                }
                claim.hold(Availability.NOW);
                claims.add(claim);
            });
        }
        history.replace(reservationsByPool());
    }

    private Map<PoolCapacity, List<ReservationHistory.PastReservation>> reservationsByPool() {
        Map<PoolCapacity, List<ReservationHistory.PastReservation>> kept = new LinkedHashMap<>();
        for (Claim claim : claims) {
            kept.computeIfAbsent(claim.candidate.poolCapacity(), pool -> new ArrayList<>())
                    .add(new ReservationHistory.PastReservation(
                            claim.candidate.schedulingClass(),
                            claim.place.allocation(),
                            claim.freeAtMillis <= nowMillis ? 0 : claim.freeAtMillis,
                            claim.candidate.withinReserved()));
        }
        return kept;
    }

    /** The pools in which only fit prevents the start of a class. */
    private List<Candidate> eligible(SchedulingClass schedulingClass) {
        List<Candidate> candidates = new ArrayList<>();
        for (PoolRequest poolRequest : poolRequestFactory.forClass(schedulingClass)) {
            if (poolRequest.isOpenAndFunded() && poolRequestFactory.couldEverFit(schedulingClass, poolRequest)) {
                QuotaRequest quotaRequest = poolRequest.quotaRequest();
                Optional<QuotaAdmission.Violation> violation = QuotaAdmission.current(quotaRequest);
                boolean onlyFit = violation.isEmpty() || violation.get().bound() == QuotaAdmission.Bound.CAPACITY;
                if (onlyFit && isBelowItsShare(quotaRequest)) {
                    candidates.add(Candidate.of(schedulingClass, poolRequest, Candidate.Attempt.START, null));
                }
            }
        }
        return candidates;
    }

    /**
     * Whether the group is below its share without the request. Workloads are indivisible, so the start may take the
     * group above it.
     */
    private static boolean isBelowItsShare(QuotaRequest quotaRequest) {
        for (QuotaNode node : quotaRequest.path()) {
            if (node.used().projected() >= node.entitledGpuMilli()) {
                return false;
            }
        }
        return true;
    }

    private static Candidate withoutRequest(Candidate candidate) {
        return Candidate.of(
                candidate.schedulingClass(),
                candidate.poolRequest().with(candidate.quotaRequest().with(1)),
                Candidate.Attempt.START,
                null);
    }

    private Optional<Claim> earliest(SchedulingClass schedulingClass) {
        Claim best = null;
        for (Candidate candidate : eligible(schedulingClass)) {
            FoundPlace foundPlace = find(candidate);
            if (foundPlace.place().isPresent()) {
                Allocation place = foundPlace.place().get();
                long freeAt = foundPlace.ended().isEmpty()
                        ? nowMillis
                        : releaseSchedule(candidate.poolCapacity())
                                .freeAtMillis(place, foundPlace.ended().getAsInt());
                Claim claim = new Claim(candidate, booking(candidate, place), freeAt, foundPlace);
                if (foundPlace.ended().isEmpty()) {
                    return Optional.of(claim);
                }
                if (best == null || claim.freeAtMillis < best.freeAtMillis) {
                    best = claim;
                }
            }
        }
        return Optional.ofNullable(best);
    }

    /** Searches for the place that comes free earliest, unless the result is known from the last plan. */
    private FoundPlace find(Candidate candidate) {
        PoolCapacity poolCapacity = candidate.poolCapacity();
        List<FoundPlace> besides = new ArrayList<>();
        for (Claim claim : claims) {
            if (claim.candidate.poolCapacity() == poolCapacity) {
                besides.add(claim.foundPlace);
            }
        }
        long bookingChanges =
                schedulingState.cluster().bookingChanges(poolCapacity.pool().id());
        FoundPlace foundPlace = history.findKnown(poolCapacity, candidate.schedulingClass(), bookingChanges, besides)
                .filter(known -> schedulingState.changes().isIncremental())
                .orElseGet(() -> new FoundPlace(bookingChanges, besides, search(candidate)));
        history.recordFound(poolCapacity, candidate.schedulingClass(), foundPlace);
        return foundPlace;
    }

    /** Other reservations only take room, so an equal request that has failed in this plan fails again. */
    private ReservationHistory.Place search(Candidate candidate) {
        Optional<RequestSignature> signature = candidate.poolRequest().signature();
        if (signature.filter(withoutPlace::contains).isPresent()) {
            return ReservationHistory.Place.NONE;
        }
        PlacementRequest placementRequest = poolRequestFactory.placementRequest(candidate.schedulingClass());
        Optional<Allocation> now = candidate.poolCapacity().place(placementRequest, Availability.NOW);
        if (now.isPresent()) {
            return new ReservationHistory.Place(now, OptionalInt.empty());
        }
        ReservationHistory.Place later = afterOthersEnd(candidate, placementRequest);
        if (later.allocation().isEmpty()) {
            signature.ifPresent(withoutPlace::add);
        }
        return later;
    }

    private ReleaseSchedule releaseSchedule(PoolCapacity poolCapacity) {
        return releaseSchedules.computeIfAbsent(
                poolCapacity.pool().id(), pool -> ReleaseSchedule.of(schedulingState, pool, nowMillis));
    }

    /** The timeline of a pool, with what the reservations so far want. */
    private ReleaseTimeline timeline(PoolCapacity poolCapacity) {
        PoolId pool = poolCapacity.pool().id();
        ReleaseTimeline known = timelines.get(pool);
        if (known != null) {
            return known;
        }
        suspendAll(poolCapacity);
        ReleaseTimeline timeline =
                new ReleaseTimeline(poolCapacity, releaseSchedule(poolCapacity).releases());
        resumeSuspended();
        for (Claim claim : claims) {
            if (claim.candidate.poolCapacity() == poolCapacity) {
                timeline.addReservation(claim.place);
            }
        }
        timelines.put(pool, timeline);
        return timeline;
    }

    private static Booking booking(Candidate candidate, Allocation place) {
        return SchedulingState.booking(candidate.head(), place);
    }

    /** Simulates the ends of running work, in the order of their stated times, until there is a place. */
    private ReservationHistory.Place afterOthersEnd(Candidate candidate, PlacementRequest placementRequest) {
        PoolCapacity poolCapacity = candidate.poolCapacity();
        ReleaseTimeline timeline = timeline(poolCapacity);
        EndedWork endedWork = new EndedWork(
                placementRequest, poolCapacity, releaseSchedule(poolCapacity).releases());
        Optional<RequestSignature> signature = candidate.poolRequest().signature();
        OptionalInt ended = timeline.fewestReleases(
                placementRequest,
                signature.map(equal -> fewestReleases.getOrDefault(equal, 0)).orElse(0),
                number -> endedWork.placeAfter(number).isPresent());
        if (signature.isPresent() && ended.isPresent()) {
            fewestReleases.put(signature.get(), ended.getAsInt());
        }
        Optional<Allocation> place = ended.isPresent() ? endedWork.placeAfter(ended.getAsInt()) : Optional.empty();
        endedWork.undo();
        return new ReservationHistory.Place(place, ended);
    }

    /**
     * A what-if in which the first of the ending workloads of a pool have left. Meanwhile the earlier reservations hold
     * the free parts of their places.
     */
    private final class EndedWork {
        private final PlacementRequest placementRequest;
        private final PoolCapacity poolCapacity;
        private final List<Release> endings;
        private final Transaction transaction = schedulingState.cluster().transaction();
        private final Map<NodeId, List<Claim>> byNode = new HashMap<>();
        private final Set<Claim> touched = new LinkedHashSet<>();

        EndedWork(PlacementRequest placementRequest, PoolCapacity poolCapacity, List<Release> endings) {
            this.placementRequest = placementRequest;
            this.poolCapacity = poolCapacity;
            this.endings = endings;
            for (Claim claim : claims) {
                if (claim.candidate.poolCapacity() == poolCapacity) {
                    claim.release();
                    claim.hold(Availability.AFTER_RELEASES);
                    for (NodeId node : claim.nodes()) {
                        byNode.computeIfAbsent(node, id -> new ArrayList<>(1)).add(claim);
                    }
                }
            }
        }

        Optional<Allocation> placeAfter(int ended) {
            touched.forEach(Claim::release);
            transaction.rollbackTo(Math.min(ended, transaction.checkpoint()));
            while (transaction.checkpoint() < ended) {
                Release ending = endings.get(transaction.checkpoint());
                transaction.releaseOnDevices(ending.booking());
                ending.booking().allocation().workers().forEach(this::touch);
            }
            touched.forEach(claim -> claim.hold(Availability.AFTER_RELEASES));
            return poolCapacity.freeGpuMilli(Availability.AFTER_RELEASES) >= placementRequest.leastGpuMilli()
                    ? poolCapacity.place(placementRequest, Availability.AFTER_RELEASES)
                    : Optional.empty();
        }

        private void touch(Allocation.Worker worker) {
            if (worker.place() instanceof Allocation.Place.OnNode on) {
                release(byNode.getOrDefault(on.node(), List.of()));
            } else {
                release(claims);
            }
        }

        private void release(List<Claim> concerned) {
            for (Claim claim : concerned) {
                if (claim.candidate.poolCapacity() == poolCapacity && touched.add(claim)) {
                    claim.release();
                }
            }
        }

        void undo() {
            for (Claim claim : claims) {
                if (claim.candidate.poolCapacity() == poolCapacity) {
                    claim.suspend();
                }
            }
            transaction.rollback();
            holdSuspended();
        }
    }

    /** Whether there are reservations. */
    boolean hasReservations() {
        return !claims.isEmpty();
    }

    /** Whether a class has a reservation. */
    boolean hasReservation(SchedulingClass schedulingClass) {
        return claims.stream().anyMatch(claim -> claim.candidate.schedulingClass() == schedulingClass);
    }

    /**
     * Releases, until {@link #holdSuspended} or {@link #resumeSuspended}, the reservations in a pool that do
     * not bind a candidate.
     *
     * @param backfill whether to release also those that the candidate's workload would not delay
     */
    void suspendFor(Candidate candidate, PoolCapacity poolCapacity, boolean backfill) {
        for (Claim claim : claims) {
            if (claim.candidate.poolCapacity() == poolCapacity
                    && !claim.suspended
                    && (!appliesTo(claim, candidate) || backfill && endsBefore(claim, candidate.head()))) {
                claim.suspend();
            }
        }
    }

    /** Releases, until {@link #holdSuspended} or {@link #resumeSuspended}, all reservations in a pool. */
    void suspendAll(PoolCapacity poolCapacity) {
        for (Claim claim : claims) {
            if (claim.candidate.poolCapacity() == poolCapacity && !claim.suspended) {
                claim.suspend();
            }
        }
    }

    /**
     * Whether a fence around the candidate prevents it from reclaiming from the holder of a reservation in the same
     * pool.
     */
    private static boolean isFenced(Claim claim, Candidate candidate) {
        List<QuotaNode> mine = candidate.quotaRequest().leaves();
        List<QuotaNode> claimants = claim.candidate.quotaRequest().leaves();
        boolean fenced = false;
        for (int i = 0;
                i < Math.min(mine.size(), claimants.size())
                        && claim.candidate.poolCapacity() == candidate.poolCapacity();
                i++) {
            fenced |= mine.get(i).fenceAgainst(claimants.get(i)).isPresent();
        }
        return fenced;
    }

    private static boolean appliesTo(Claim claim, Candidate candidate) {
        boolean own = claim.candidate.schedulingClass() == candidate.schedulingClass();
        boolean sameGroup = claim.candidate
                .schedulingClass()
                .key()
                .path()
                .equals(candidate.schedulingClass().key().path());
        boolean mayPreempt = sameGroup
                && candidate.head().priority() > claim.candidate.head().priority();
        boolean mayReclaim = !sameGroup
                && candidate.withinReserved()
                && !claim.candidate.withinReserved()
                && !isFenced(claim, candidate);
        return !own && !mayPreempt && !mayReclaim;
    }

    private boolean endsBefore(Claim claim, Workload workload) {
        return workload.maxRuntimeMillis().isPresent()
                && claim.freeAtMillis != Release.NEVER
                && nowMillis + workload.maxRuntimeMillis().getAsLong() <= claim.freeAtMillis;
    }

    /** The numbers of the classes whose reservations in a pool are suspended. */
    Set<Long> suspended(PoolCapacity poolCapacity) {
        Set<Long> suspended = new HashSet<>();
        for (Claim claim : claims) {
            if (claim.suspended && claim.candidate.poolCapacity() == poolCapacity) {
                suspended.add(claim.candidate.schedulingClass().number());
            }
        }
        return suspended;
    }

    /** Holds all suspended reservations again as before. Nothing may have been booked or freed since. */
    void resumeSuspended() {
        for (Claim claim : claims) {
            if (claim.suspended) {
                claim.resume();
            }
        }
    }

    /** Holds all suspended reservations again, each as far as its place is free now. */
    void holdSuspended() {
        for (Claim claim : claims) {
            if (claim.suspended) {
                claim.hold(Availability.NOW);
            }
        }
    }

    /** Holds again what is suspended, and what is free now of the reservations beside an allocation. */
    void holdAgain(Allocation changed) {
        for (Claim claim : claims) {
            if (claim.touches(changed)) {
                claim.suspend();
            }
        }
        holdSuspended();
    }

    /** Holds the free part of every reservation again. */
    void holdAllAgain() {
        claims.forEach(Claim::suspend);
        holdSuspended();
    }

    /** Ends the reservation of a class whose head starts or gets a nomination. */
    void endReservation(SchedulingClass schedulingClass) {
        for (Claim claim : List.copyOf(claims)) {
            if (claim.candidate.schedulingClass() == schedulingClass) {
                claim.release();
                claims.remove(claim);
                history.removeReservation(claim.candidate.poolCapacity(), schedulingClass);
            }
        }
    }

    /** Releases all reservations, so that the bookings are as before. */
    void releaseAll() {
        claims.reversed().forEach(Claim::release);
        claims.clear();
    }
}
