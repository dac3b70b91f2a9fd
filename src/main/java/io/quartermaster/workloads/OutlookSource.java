package io.quartermaster.workloads;

import io.quartermaster.engine.model.Outlook;
import io.quartermaster.engine.model.Reason;
import io.smallrye.mutiny.Uni;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * Says more of a wait than is stored: who is in the way, what would be enough, when it will start. Brought by the package above that can
 * foretell. (An interface although there is one implementation, because imports go down only.)
 */
public interface OutlookSource {

    /**
     * What is foretold of a workload.
     *
     * @param asOf of which moment all of it is true
     * @param standing where it stands then, after what the leader decides at that moment
     * @param reasons why it waits, per pool; empty unless it waits
     * @param outlook empty when it does not wait for room or a right by now
     * @param startsAt when it starts, if what runs before ends when it must and nothing else comes; empty when that is not known
     */
    record Prospect(
            Instant asOf,
            Standing standing,
            List<Reason> reasons,
            Optional<Outlook> outlook,
            Optional<Instant> startsAt) {

        public Prospect {
            reasons = List.copyOf(reasons);
        }
    }

    /** Where a workload stands. */
    enum Standing {
        /** For the reasons given. */
        WAITS,
        /** The leader's next plan starts it. */
        STARTS,
        /** The leader does not plan with it, for a reason that it stored. */
        KEPT_BACK,
        /** It waits no more, or was not there yet. */
        UNKNOWN
    }

    /** Empty when it cannot be worked out soon; never fails. The workload's tenant may see all that is in the answer. */
    Uni<Optional<Prospect>> of(UUID workload);
}
