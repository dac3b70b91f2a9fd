package io.quartermaster.engine.state;

import io.quartermaster.engine.placement.Availability;
import io.quartermaster.engine.placement.PoolCapacity;
import io.quartermaster.engine.placement.RequestSignature;
import io.quartermaster.engine.preemption.CandidatesOfGroup;
import io.quartermaster.engine.quota.QuotaRequest;
import io.quartermaster.engine.quota.QuotaTree;
import io.quartermaster.engine.quota.UsageView;

/**
 * The attempts of a scheduling class in one pool that are known to fail. Starts only take room, so an attempt that
 * failed fails again until one of these changes: useful capacity is freed, other reservations bind the class, work
 * leaves or becomes movable, or, for evictions, the use or the share of any group.
 *
 * <p>A class that may reclaim nothing, whatever leaves, depends on less. It can only evict work of its own group. So
 * its evictions fail again until its tenant changes, or room comes free beside the work of its group. Where the
 * capacity of a whole tree was exceeded, they also fail until it is exceeded by less.
 */
public final class FailedAttempts {
    private final PoolCapacity poolCapacity;
    private final QuotaRequest quotaRequest;
    private final CandidatesOfGroup ofGroup;
    private final RequestSignature signature;
    private final TenantVersion tenantVersion;
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
    private boolean roomWithoutMoves;
    private boolean roomByMovesOnly;
    private boolean roomMayReclaim;
    private long roomTenantChanges;
    private long roomFreedBeside;
    private long roomInvalidations;
    private final long[] roomExcessGpuMilli;

    /**
     * @param ofGroup the running work of the class's group in the pool
     * @param isGrowth whether running work grows; it is not moved for itself, so others' failed moves say nothing
     */
    FailedAttempts(
            PoolCapacity poolCapacity,
            QuotaRequest quotaRequest,
            CandidatesOfGroup ofGroup,
            RequestSignature signature,
            SchedulingState schedulingState,
            TenantVersion tenantVersion,
            boolean isGrowth) {
        this.quotaRequest = quotaRequest;
        this.ofGroup = ofGroup;
        this.tenantVersion = tenantVersion;
        this.roomExcessGpuMilli = new long[quotaRequest.leaves().size()];
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
     * @param mayReclaim whether work of other groups could be evicted for it
     */
    public void recordRoomFailure(boolean withinReserved, boolean admitted, boolean byMovesOnly, boolean mayReclaim) {
        // From now on, the index by node reports the room that comes free beside the group's work.
        schedulingState.runningWork().byNode(poolCapacity.pool().id());
        roomMayReclaim = mayReclaim;
        roomTenantChanges = tenantVersion.changes();
        roomFreedBeside = ofGroup.freed();
        roomInvalidations = schedulingState.changes().invalidations();
        for (int i = 0; i < roomExcessGpuMilli.length; i++) {
            roomExcessGpuMilli[i] = excessGpuMilli(i);
        }
        roomReservations = poolCapacity.reservationVersion();
        roomFreed = signature.freed(Availability.AFTER_RELEASES);
        roomReleases = schedulingState.cluster().moveSearches().releases();
        roomRights = schedulingState.rightsVersion();
        roomWithin = withinReserved;
        roomAdmitted = admitted;
        roomWithoutMoves = !isGrowth && signature.isLeftToNextRound();
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
                                && !roomWithoutMoves
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
                && (byMovesOnly || !roomByMovesOnly)
                && roomReservations == poolCapacity.reservationVersion()
                && roomWithin == withinReserved
                && (roomMayReclaim ? nothingHasChanged() : nothingHasChangedForItsGroup(withinReserved));
    }

    private boolean nothingHasChanged() {
        return !roomWithoutMoves
                && roomRights == schedulingState.rightsVersion()
                && roomFreed == signature.freed(Availability.AFTER_RELEASES)
                && roomReleases == schedulingState.cluster().moveSearches().releases();
    }

    private boolean nothingHasChangedForItsGroup(boolean withinReserved) {
        return roomInvalidations == schedulingState.changes().invalidations()
                && roomTenantChanges == tenantVersion.changes()
                && roomFreedBeside == ofGroup.freed()
                && (roomAdmitted
                        ? areMovesKnownToFail(withinReserved)
                        : roomFreed == signature.freed(Availability.AFTER_RELEASES) && isExcessAsGreat());
    }

    private boolean isExcessAsGreat() {
        for (int i = 0; i < roomExcessGpuMilli.length; i++) {
            if (roomExcessGpuMilli[i] > 0 && excessGpuMilli(i) < roomExcessGpuMilli[i]) {
                return false;
            }
        }
        return true;
    }

    /** By how much a start would exceed the capacity of a tree; not positive if it would not. */
    private long excessGpuMilli(int tree) {
        QuotaTree of = quotaRequest.leaves().get(tree).tree();
        return of.root().used().projected() + quotaRequest.gpuMilli() - of.capacityGpuMilli(UsageView.PROJECTED);
    }
}
