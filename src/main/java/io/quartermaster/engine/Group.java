package io.quartermaster.engine;

import io.quartermaster.engine.quota.QuotaNode;
import java.util.List;

/**
 * Work of one path: the same for all that is submitted under it.
 *
 * @param tenant the lines of all groups of its tenant: what one uses bounds the others
 * @param leaves where it counts, in every tree
 */
record Group(QuotaPath path, List<Line> tenant, List<QuotaNode> leaves) implements Touches.Touch {

    /** Groups are told apart by what they are, not by what is in them. */
    @Override
    public boolean equals(Object other) {
        return this == other;
    }

    @Override
    public int hashCode() {
        return path.hashCode();
    }
}
