package io.quartermaster.capacity;

import io.quartermaster.engine.Quota;
import io.quartermaster.engine.QuotaPath;
import io.quartermaster.engine.Scope;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * What is granted at one place of a quota tree, to a tenant by its allotment or to a group by its policy. Amounts are thousandths of a
 * GPU.
 *
 * @param limitGpuMilli ceiling on what is held at once; absent = none
 * @param weight part in spare capacity, in whole GPUs' worth; absent = what is reserved, or 1 where no sibling reserves anything (the
 *     engine takes this default, because it depends on the siblings)
 * @param lendableGpuMilli how much of the reserved amount others may use while it is idle; absent = all of it, 0 = dedicated
 * @param rank lower goes first among siblings
 */
public record QuotaTerms(
        long reservedGpuMilli,
        OptionalLong limitGpuMilli,
        OptionalInt weight,
        OptionalLong lendableGpuMilli,
        int rank) {

    public static final int MAX_WEIGHT = 1_000_000;
    /** Ranks reach this far to both sides of 0. */
    public static final int MAX_RANK = 1_000_000;

    private static final long MILLI = 1000;

    public QuotaTerms {
        if (reservedGpuMilli < 0
                || limitGpuMilli.orElse(reservedGpuMilli) < reservedGpuMilli
                || lendableGpuMilli.orElse(0) < 0
                || lendableGpuMilli.orElse(0) > reservedGpuMilli) {
            throw new IllegalArgumentException("0 <= lendable <= reserved <= limit does not hold");
        }
        if (weight.orElse(0) < 0 || weight.orElse(0) > MAX_WEIGHT || Math.abs((long) rank) > MAX_RANK) {
            throw new IllegalArgumentException("weight or rank is out of range");
        }
    }

    /** A reservation with everything else at its default. */
    public static QuotaTerms reserving(long gpuMilli) {
        return new QuotaTerms(gpuMilli, OptionalLong.empty(), OptionalInt.empty(), OptionalLong.empty(), 0);
    }

    public QuotaTerms withLimit(long gpuMilli) {
        return new QuotaTerms(reservedGpuMilli, OptionalLong.of(gpuMilli), weight, lendableGpuMilli, rank);
    }

    /** With more reserved; the limit rises with it, and so does what is lent. */
    public QuotaTerms raisedBy(long gpuMilli) {
        return new QuotaTerms(
                reservedGpuMilli + gpuMilli,
                raised(limitGpuMilli, gpuMilli),
                weight,
                raised(lendableGpuMilli, gpuMilli),
                rank);
    }

    private static OptionalLong raised(OptionalLong amount, long gpuMilli) {
        return amount.isPresent() ? OptionalLong.of(amount.getAsLong() + gpuMilli) : amount;
    }

    /** These terms as the engine takes them. */
    public Quota at(QuotaPath path, Scope scope, boolean overQuota) {
        OptionalLong weightMilli =
                weight.isPresent() ? OptionalLong.of(weight.getAsInt() * MILLI) : OptionalLong.empty();
        return new Quota(path, scope, reservedGpuMilli, limitGpuMilli, weightMilli, lendableGpuMilli, rank, overQuota);
    }
}
