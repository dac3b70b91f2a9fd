package io.quartermaster.workloads;

import io.quartermaster.engine.model.Outlook;
import io.quartermaster.engine.model.Reason;
import io.smallrye.mutiny.Uni;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * The source of outlooks: the workloads in the way, the changes that would be enough, and the forecast start. The
 * package above implements it. (It is an interface although there is one implementation, because imports only go down.)
 */
public interface OutlookSource {

    /**
     * The forecast of a workload.
     *
     * @param asOf the moment of all the other values
     * @param status the workload's status after the leader's decisions at that moment
     * @param reasons why it waits, per pool; empty unless it waits
     * @param outlook empty unless it waits for room or a right
     * @param startsAt the start, if running workloads end at their maximum run time and no others arrive; empty if
     *     unknown
     */
    record Prospect(
            Instant asOf, Status status, List<Reason> reasons, Optional<Outlook> outlook, Optional<Instant> startsAt) {

        public Prospect {
            reasons = List.copyOf(reasons);
        }
    }

    /** The status of a workload. */
    enum Status {
        /** It waits for the given reasons. */
        WAITS,
        /** The leader's next plan starts it. */
        STARTS,
        /** The leader does not consider it, for a reason that it stored. */
        EXCLUDED,
        /** It no longer waits, or did not exist yet. */
        UNKNOWN
    }

    /**
     * Computes the prospect of a workload. Empty if that would take too long; never fails. The workload's tenant may
     * see the complete result.
     */
    Uni<Optional<Prospect>> prospectOf(UUID workload);
}
