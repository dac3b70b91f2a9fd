package io.quartermaster.engine.model;

import java.util.List;
import java.util.OptionalLong;

/**
 * The numbers behind the fair share of a group in one scope, sufficient to check the division without the engine.
 *
 * @param levels the branches from the tenant down to the group; each divides its fair share among its children
 */
public record ShareExplanation(Scope scope, List<Level> levels) {

    public ShareExplanation {
        levels = List.copyOf(levels);
    }

    /**
     * One division.
     *
     * @param dividedGpuMilli the amount that is divided among the branch and its siblings: the fair share of the branch
     *     above them, or the capacity that is up
     * @param siblings all other children of the branch above, in the order of their paths
     */
    public record Level(long dividedGpuMilli, Branch branch, List<Branch> siblings) {

        public Level {
            siblings = List.copyOf(siblings);
        }
    }

    /**
     * A child in a division.
     *
     * @param ownWork whether it is the work of the branch above itself, beside that of the groups under it
     * @param weightMilli the weight as it is used: the stated one, or the reserved amount if none is stated
     * @param usedGpuMilli the use once all evicted work has left and all nominated work has started
     * @param demandGpuMilli used plus waiting GPUs, capped by the limit, and by the reserved amount if over-quota is
     *     off
     * @param pastGpuMicro the average past use in millionths of a GPU; empty where past use does not count
     * @param bound the reason why the fair share is not greater
     */
    public record Branch(
            QuotaPath path,
            boolean ownWork,
            long reservedGpuMilli,
            OptionalLong limitGpuMilli,
            boolean overQuota,
            long weightMilli,
            int rank,
            long usedGpuMilli,
            long demandGpuMilli,
            long fairGpuMilli,
            OptionalLong pastGpuMicro,
            ShareBound bound) {}

    /** The reason why a fair share is not greater. */
    public enum ShareBound {
        /** The branch demands no more. */
        DEMAND,
        /** Its limit. */
        LIMIT,
        /** Its reserved amount, because over-quota is off. */
        OVER_QUOTA_OFF,
        /** Its reserved amount, because it has no weight. */
        NO_WEIGHT,
        /** The other branches' reserved amounts, ranks and weights. */
        DIVISION
    }
}
