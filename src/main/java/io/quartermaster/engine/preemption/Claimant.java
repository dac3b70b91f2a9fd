package io.quartermaster.engine.preemption;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.placement.Request;
import io.quartermaster.engine.placement.Space;
import io.quartermaster.engine.placement.Tenure;
import io.quartermaster.engine.quota.Ask;
import java.util.Optional;

/**
 * Who needs room in a pool, and how much.
 *
 * @param means what may be done for it
 */
public record Claimant(
        WorkloadId id,
        QuotaPath path,
        Optional<String> user,
        int priority,
        Space space,
        Ask ask,
        Request request,
        Means means) {

    /** What may be done to make room. */
    public enum Means {
        /** What runs may be moved, and stopped as far as the rights go. */
        STOPPING,
        /** What runs may be moved, and stopped as far as the claimant takes back what is reserved for it. */
        TAKING_BACK_RESERVED,
        /** What runs may be moved: it has not waited long enough for more. */
        MOVING_ONLY
    }

    /** What it will hold at the place. */
    public Tenure at(Allocation place) {
        return new Tenure(path, user, request.shape(), ask.preemptible(), place, ask.whole());
    }
}
