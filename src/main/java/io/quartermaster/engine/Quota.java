package io.quartermaster.engine;

import java.util.OptionalLong;

/**
 * One node of a quota tree: a tenant's allotment, or what a policy grants a group.
 *
 * @param reservedGpuMilli the deserved share; others may borrow it while it is unused, as far as it is lendable
 * @param limitGpuMilli ceiling on what is held at once; absent = none
 * @param weightMilli part in spare capacity; absent = what is reserved, or 1000 where no sibling reserves anything
 * @param lendableGpuMilli how much of the reserved amount others may use; absent = all of it, 0 = dedicated
 * @param rank lower goes first among siblings
 * @param overQuota whether anything may run beyond what is reserved
 */
public record Quota(
        QuotaPath path,
        Scope scope,
        long reservedGpuMilli,
        OptionalLong limitGpuMilli,
        OptionalLong weightMilli,
        OptionalLong lendableGpuMilli,
        int rank,
        boolean overQuota) {

    public Quota {
        requireAtLeastZero("reserved", reservedGpuMilli);
        limitGpuMilli.ifPresent(limit -> requireAtLeastZero("limit", limit));
        weightMilli.ifPresent(weight -> requireAtLeastZero("weight", weight));
        lendableGpuMilli.ifPresent(lendable -> requireAtLeastZero("lendable", lendable));
    }

    /** A reservation with everything else at its default: no limit, all lendable, over-quota allowed. */
    public static Quota reserving(QuotaPath path, Scope scope, long reservedGpuMilli) {
        return new Quota(
                path,
                scope,
                reservedGpuMilli,
                OptionalLong.empty(),
                OptionalLong.empty(),
                OptionalLong.empty(),
                0,
                true);
    }

    public Quota withLimit(long gpuMilli) {
        return new Quota(
                path,
                scope,
                reservedGpuMilli,
                OptionalLong.of(gpuMilli),
                weightMilli,
                lendableGpuMilli,
                rank,
                overQuota);
    }

    private static void requireAtLeastZero(String what, long amount) {
        if (amount < 0) {
            throw new IllegalArgumentException(what + " is not negative: " + amount);
        }
    }
}
