package io.quartermaster.engine.plan;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.state.PendingRelease;
import io.quartermaster.engine.state.Release;
import io.quartermaster.engine.state.SchedulingState;
import java.util.List;

/**
 * The times at which work in a pool releases its devices, by stated run times, the earliest first.
 *
 * @param pendingReleases the evicted work that still holds devices
 */
public record ReleaseSchedule(List<Release> releases, List<PendingRelease> pendingReleases, long nowMillis) {

    public static ReleaseSchedule of(SchedulingState schedulingState, PoolId pool, long nowMillis) {
        return new ReleaseSchedule(
                List.copyOf(schedulingState.releases(pool)),
                List.copyOf(schedulingState.pendingRelease(pool)),
                nowMillis);
    }

    /**
     * When a place is free, if so many of the releases have happened. Evicted work matters only on the devices of the
     * place.
     */
    public long freeAtMillis(Allocation place, int released) {
        long at = released == 0 ? nowMillis : releases.get(released - 1).atMillis(nowMillis);
        for (PendingRelease goes : pendingReleases) {
            if (goes.deadlineMillis() > at && goes.allocation().overlaps(place)) {
                at = goes.deadlineMillis();
            }
        }
        return at;
    }
}
