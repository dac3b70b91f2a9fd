package io.quartermaster.engine;

import java.util.List;
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
 * @param sequence lower existed first, which decides where nothing else does; then the path decides
 * @param turns what is known of its future, in order of time
 */
public record Quota(
        QuotaPath path,
        Scope scope,
        long reservedGpuMilli,
        OptionalLong limitGpuMilli,
        OptionalLong weightMilli,
        OptionalLong lendableGpuMilli,
        int rank,
        boolean overQuota,
        long sequence,
        List<Turn> turns) {

    /** What is reserved, and the limit, from a moment on. */
    public record Turn(long atMillis, long reservedGpuMilli, OptionalLong limitGpuMilli) {}

    public Quota {
        turns = List.copyOf(turns);
        requireAtLeastZero("reserved", reservedGpuMilli);
        limitGpuMilli.ifPresent(limit -> requireAtLeastZero("limit", limit));
        weightMilli.ifPresent(weight -> requireAtLeastZero("weight", weight));
        lendableGpuMilli.ifPresent(lendable -> requireAtLeastZero("lendable", lendable));
    }

    /** A quota that stays as it is, as far as it is known. */
    public Quota(
            QuotaPath path,
            Scope scope,
            long reservedGpuMilli,
            OptionalLong limitGpuMilli,
            OptionalLong weightMilli,
            OptionalLong lendableGpuMilli,
            int rank,
            boolean overQuota,
            long sequence) {
        this(
                path,
                scope,
                reservedGpuMilli,
                limitGpuMilli,
                weightMilli,
                lendableGpuMilli,
                rank,
                overQuota,
                sequence,
                List.of());
    }

    /** A quota that came into being together with all others. */
    public Quota(
            QuotaPath path,
            Scope scope,
            long reservedGpuMilli,
            OptionalLong limitGpuMilli,
            OptionalLong weightMilli,
            OptionalLong lendableGpuMilli,
            int rank,
            boolean overQuota) {
        this(path, scope, reservedGpuMilli, limitGpuMilli, weightMilli, lendableGpuMilli, rank, overQuota, 0);
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
                overQuota,
                sequence,
                turns);
    }

    /** The same with more reserved, of which a part is lent; the limit rises with it. */
    Quota raisedBy(long gpuMilli, long lendable) {
        return new Quota(
                path,
                scope,
                reservedGpuMilli + gpuMilli,
                limitGpuMilli.isPresent() ? OptionalLong.of(limitGpuMilli.getAsLong() + gpuMilli) : limitGpuMilli,
                weightMilli,
                lendableGpuMilli.isPresent() || lendable < gpuMilli
                        ? OptionalLong.of(lendableGpuMilli.orElse(reservedGpuMilli) + lendable)
                        : lendableGpuMilli,
                rank,
                overQuota,
                sequence,
                turns);
    }

    Quota withTurns(List<Turn> known) {
        return new Quota(
                path,
                scope,
                reservedGpuMilli,
                limitGpuMilli,
                weightMilli,
                lendableGpuMilli,
                rank,
                overQuota,
                sequence,
                known);
    }

    private static void requireAtLeastZero(String what, long amount) {
        if (amount < 0) {
            throw new IllegalArgumentException(what + " is not negative: " + amount);
        }
    }
}
