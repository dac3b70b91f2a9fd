package io.quartermaster.engine.model;

import java.util.List;

/**
 * Order of the paths within a profile. The engine needs no more of a profile, because each workload has its own shape.
 *
 * @param pathOrder the paths whose work of this profile goes first, in order; other paths come after them
 */
public record ProfileOrder(ProfileId id, List<QuotaPath> pathOrder) {

    public ProfileOrder {
        pathOrder = List.copyOf(pathOrder);
    }
}
