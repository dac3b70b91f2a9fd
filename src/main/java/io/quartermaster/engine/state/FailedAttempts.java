package io.quartermaster.engine.state;

import io.quartermaster.engine.placement.Availability;
import io.quartermaster.engine.placement.PoolCapacity;
import io.quartermaster.engine.placement.RequestSignature;

/**
 * The attempts of a scheduling class in one pool that are known to fail. Starts only take room, so an attempt that
 * failed fails again until one of these changes: useful capacity is freed, other reservations bind the class, work
 * leaves or becomes movable, or, for evictions, the use or the share of any group.
 */
public final class FailedAttempts {
    private final PoolCapacity poolCapacity;
    private final RequestSignature signature;
    private final SchedulingState schedulingState;
    private final boolean isGrowth;
    private long startReservations = -1;
    private long startFreed;
    private boolean startWithin;
    private long releasesReservations = -1;
    private long releasesFreed;
    private boolean releasesWithin;
    private long roomReservations = -1;
    private long roomFreed;
    private long roomReleases;
    private long roomRights;
    private boolean roomWithin;
    private boolean roomAdmitted;
    private boolean roomByMovesOnly;

    /** @param isGrowth whether running work grows; it is not moved for itself, so others' failed moves say nothing */
    FailedAttempts(
            PoolCapacity poolCapacity, RequestSignature signature, SchedulingState schedulingState, boolean isGrowth) {
        this.isGrowth = isGrowth;
        this.poolCapacity = poolCapacity;
        this.signature = signature;
        this.schedulingState = schedulingState;
    }

    /**
     * Records that no free room was found.
     *
     * @param withinReserved whether the start would have been within the reservation
     */
    public void recordStartFailure(boolean withinReserved) {
        startReservations = poolCapacity.reservationVersion();
        startFreed = signature.freed(Availability.NOW);
        startWithin = withinReserved;
    }

    /** Whether it is known that there is no free room. */
    public boolean isStartKnownToFail(boolean withinReserved) {
        return schedulingState.changes().isIncremental()
                && startReservations == poolCapacity.reservationVersion()
                && startFreed == signature.freed(Availability.NOW)
                && startWithin == withinReserved;
    }

    /**
     * Records that there is no room after all evicted work has left, although the quotas would admit the start.
     *
     * @param withinReserved whether the start would have been within the reservation
     */
    public void recordReleasesFailure(boolean withinReserved) {
        releasesReservations = poolCapacity.reservationVersion();
        releasesFreed = signature.freed(Availability.AFTER_RELEASES);
        releasesWithin = withinReserved;
    }

    /** Whether it is known that there is no room after all evicted work has left. */
    public boolean areReleasesKnownToFail(boolean withinReserved) {
        return schedulingState.changes().isIncremental()
                && releasesReservations == poolCapacity.reservationVersion()
                && releasesFreed == signature.freed(Availability.AFTER_RELEASES)
                && releasesWithin == withinReserved;
    }

    /**
     * Records that no room could be made.
     *
     * @param admitted whether the quotas would have admitted the start after all evicted work has left
     * @param byMovesOnly whether nothing was allowed but to move work
     */
    public void recordRoomFailure(boolean withinReserved, boolean admitted, boolean byMovesOnly) {
        roomReservations = poolCapacity.reservationVersion();
        roomFreed = signature.freed(Availability.AFTER_RELEASES);
        roomReleases = schedulingState.cluster().moveSearches().releases();
        roomRights = schedulingState.rightsVersion();
        roomWithin = withinReserved;
        roomAdmitted = admitted;
        roomByMovesOnly = byMovesOnly;
    }

    /**
     * Whether it is known that neither releases nor moves make room. Failed moves are remembered for the request, by
     * whichever class they were tried, but not for work that grows.
     */
    public boolean areMovesKnownToFail(boolean withinReserved) {
        return areReleasesKnownToFail(withinReserved)
                && (!isGrowth && signature.areMovesKnownToFail()
                        || roomAdmitted
                                && roomReservations == releasesReservations
                                && roomReleases
                                        == schedulingState
                                                .cluster()
                                                .moveSearches()
                                                .releases()
                                && roomWithin == withinReserved);
    }

    /** Whether it is known that no room can be made, by evictions neither. */
    public boolean isRoomKnownToFail(boolean withinReserved, boolean byMovesOnly) {
        return schedulingState.changes().isIncremental()
                && roomRights == schedulingState.rightsVersion()
                && (byMovesOnly || !roomByMovesOnly)
                && roomReservations == poolCapacity.reservationVersion()
                && roomFreed == signature.freed(Availability.AFTER_RELEASES)
                && roomReleases == schedulingState.cluster().moveSearches().releases()
                && roomWithin == withinReserved;
    }
}
