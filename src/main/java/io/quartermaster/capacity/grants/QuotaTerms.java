package io.quartermaster.capacity.grants;

import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Scope;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * The grant at one place of a quota tree, to a tenant by its allotment or to a group by its policy. Amounts are
 * thousandths of a GPU.
 *
 * @param limitGpuMilli the most that may be held at the same time; absent = no limit
 * @param weight share of spare capacity, in units of whole GPUs; absent = the reserved amount, or 1 where no sibling
 *     reserves anything (the engine applies this default, because it depends on the siblings)
 * @param lendableGpuMilli how much of the reserved amount others may use while it is idle; absent = all of it, 0 =
 *     dedicated
 * @param rank siblings with a lower rank go first
 * @param override temporary values for the reserved amount and the limit
 * @param drainByMillis time from which work beyond the limit is stopped; absent = such work continues
 * @param fence whether work under it reclaims nothing from outside it
 */
public record QuotaTerms(
        long reservedGpuMilli,
        OptionalLong limitGpuMilli,
        OptionalInt weight,
        OptionalLong lendableGpuMilli,
        int rank,
        Optional<Quota.Override> override,
        OptionalLong drainByMillis,
        boolean fence) {

    public static final int MAX_WEIGHT = 1_000_000;
    /** The bound of ranks on both sides of 0. */
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
        OptionalLong limit = limitGpuMilli;
        long reserved = reservedGpuMilli;
        boolean fits = override.stream()
                .allMatch(stated ->
                        (stated.limitGpuMilli().isPresent() ? stated.limitGpuMilli() : limit).orElse(Long.MAX_VALUE)
                                >= stated.reservedGpuMilli().orElse(reserved));
        if (!fits) {
            throw new IllegalArgumentException("reserved <= limit does not hold in the override");
        }
    }

    /** Terms without an override. */
    public QuotaTerms(
            long reservedGpuMilli,
            OptionalLong limitGpuMilli,
            OptionalInt weight,
            OptionalLong lendableGpuMilli,
            int rank) {
        this(
                reservedGpuMilli,
                limitGpuMilli,
                weight,
                lendableGpuMilli,
                rank,
                Optional.empty(),
                OptionalLong.empty(),
                false);
    }

    private long reservedIn(Quota.Override stated) {
        return stated.reservedGpuMilli().orElse(reservedGpuMilli);
    }

    private OptionalLong limitIn(Quota.Override stated) {
        return stated.limitGpuMilli().isPresent() ? stated.limitGpuMilli() : limitGpuMilli;
    }

    /** The same terms with this override. */
    public QuotaTerms withOverride(Quota.Override other) {
        return new QuotaTerms(
                reservedGpuMilli,
                limitGpuMilli,
                weight,
                lendableGpuMilli,
                rank,
                Optional.of(other),
                drainByMillis,
                fence);
    }

    /** The same terms with this drain date for work beyond the limit. */
    public QuotaTerms drainedBy(long millis) {
        return new QuotaTerms(
                reservedGpuMilli,
                limitGpuMilli,
                weight,
                lendableGpuMilli,
                rank,
                override,
                OptionalLong.of(millis),
                fence);
    }

    /** The same terms with this fence: whether work under it reclaims nothing from outside it. */
    public QuotaTerms withFence(boolean fenced) {
        return new QuotaTerms(
                reservedGpuMilli, limitGpuMilli, weight, lendableGpuMilli, rank, override, drainByMillis, fenced);
    }

    /** The same terms, with the override and the drain date of others where these have none. */
    public QuotaTerms withTransitionsOf(QuotaTerms others) {
        return new QuotaTerms(
                reservedGpuMilli,
                limitGpuMilli,
                weight,
                lendableGpuMilli,
                rank,
                override.isPresent() ? override : others.override,
                drainByMillis.isPresent() ? drainByMillis : others.drainByMillis,
                fence);
    }

    /** Whether an override sets the reserved amount at this moment. */
    public boolean overridesReservedAt(long millis) {
        return override.filter(stated -> stated.isOpenAt(millis))
                .filter(stated -> stated.reservedGpuMilli().isPresent())
                .isPresent();
    }

    /** The terms in effect at a moment; the lendable amount is at most the reserved amount then. */
    public QuotaTerms effectiveAt(long millis) {
        Optional<Quota.Override> open = override.filter(stated -> stated.isOpenAt(millis));
        if (open.isEmpty()) {
            return new QuotaTerms(reservedGpuMilli, limitGpuMilli, weight, lendableGpuMilli, rank).withFence(fence);
        }
        long reserved = reservedIn(open.get());
        return new QuotaTerms(
                        reserved,
                        limitIn(open.get()),
                        weight,
                        lendableGpuMilli.isPresent()
                                ? OptionalLong.of(Math.min(reserved, lendableGpuMilli.getAsLong()))
                                : lendableGpuMilli,
                        rank)
                .withFence(fence);
    }

    /** The most that is reserved at any time. */
    public long maxReservedGpuMilli() {
        return Math.max(reservedGpuMilli, override.map(this::reservedIn).orElse(0L));
    }

    /** A reservation with all other terms at their defaults. */
    public static QuotaTerms reserving(long gpuMilli) {
        return new QuotaTerms(gpuMilli, OptionalLong.empty(), OptionalInt.empty(), OptionalLong.empty(), 0);
    }

    public QuotaTerms withLimit(long gpuMilli) {
        return new QuotaTerms(
                reservedGpuMilli,
                OptionalLong.of(gpuMilli),
                weight,
                lendableGpuMilli,
                rank,
                override,
                drainByMillis,
                fence);
    }

    /** The same terms with more reserved; the limit and the lendable amount rise too. */
    public QuotaTerms raisedBy(long gpuMilli) {
        return new QuotaTerms(
                reservedGpuMilli + gpuMilli,
                raised(limitGpuMilli, gpuMilli),
                weight,
                raised(lendableGpuMilli, gpuMilli),
                rank,
                override,
                drainByMillis,
                fence);
    }

    private static OptionalLong raised(OptionalLong amount, long gpuMilli) {
        return amount.isPresent() ? OptionalLong.of(amount.getAsLong() + gpuMilli) : amount;
    }

    /** These terms as a quota of the engine. */
    public Quota at(QuotaPath path, Scope scope, boolean overQuota) {
        OptionalLong weightMilli =
                weight.isPresent() ? OptionalLong.of(weight.getAsInt() * MILLI) : OptionalLong.empty();
        Quota quota =
                new Quota(path, scope, reservedGpuMilli, limitGpuMilli, weightMilli, lendableGpuMilli, rank, overQuota);
        Quota base = fence ? quota.fenced() : quota;
        Quota overridden = override.map(base::withOverride).orElse(base);
        return drainByMillis.isPresent() ? overridden.drainedBy(drainByMillis.getAsLong()) : overridden;
    }
}
