package io.quartermaster.engine.state;

import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.placement.Booking;
import java.util.Comparator;

/**
 * Running work that releases its devices by a stated time.
 *
 * @param booking what it keeps until then, without workers that leave before
 * @param statedMillis when it ends at the latest, by its {@code max-runtime}; {@link #NEVER} if it states none
 */
public record Release(WorkloadId workload, Booking booking, long startedMillis, long statedMillis) {
    /** No end is known. */
    public static final long NEVER = Long.MAX_VALUE;

    static final Comparator<Release> EARLIEST_FIRST = Comparator.comparingLong(Release::statedMillis)
            .thenComparingLong(Release::startedMillis)
            .thenComparing(Release::workload);

    /** When it ends at the latest, but not in the past: overdue work may end at any moment. */
    public long atMillis(long nowMillis) {
        return Math.max(nowMillis, statedMillis);
    }
}
