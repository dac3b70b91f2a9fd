package io.quartermaster.engine.model;

import java.util.List;

/**
 * What the engine must know of a profile beyond the shape that each workload states itself.
 *
 * @param pathOrder whose work of this profile goes first; paths not named come after all that are
 */
public record ProfileOrder(ProfileId id, List<QuotaPath> pathOrder) {

    public ProfileOrder {
        pathOrder = List.copyOf(pathOrder);
    }
}
