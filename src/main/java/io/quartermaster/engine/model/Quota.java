package io.quartermaster.engine.model;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.SortedSet;
import java.util.TreeSet;

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
 * @param drainByMillis from then on what is held beyond the limit is stopped; absent = it goes on
 * @param fence whether work under it takes nothing back from outside it; others take back from inside as ever
 * @param turns from when on something else is reserved and is the limit, in order of time
 * @param implied whether the service added it, because the tree needs a quota for every path. It counts use and demand, sets no bound, gives
 *     no right to reclaim and protects no victim
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
        OptionalLong drainByMillis,
        boolean fence,
        List<Turn> turns,
        boolean implied) {

    /** What is reserved, and the limit, from a moment on. */
    public record Turn(long atMillis, long reservedGpuMilli, OptionalLong limitGpuMilli) {}

    /**
     * What stands for a time instead of what is reserved, of the limit, or of both.
     *
     * @param fromMillis its first moment; absent = since ever
     * @param untilMillis the first moment after it
     */
    public record Override(
            OptionalLong reservedGpuMilli, OptionalLong limitGpuMilli, OptionalLong fromMillis, long untilMillis) {

        public Override {
            reservedGpuMilli.ifPresent(reserved -> requireAtLeastZero("reserved", reserved));
            limitGpuMilli.ifPresent(limit -> requireAtLeastZero("limit", limit));
            if (reservedGpuMilli.isEmpty() && limitGpuMilli.isEmpty()) {
                throw new IllegalArgumentException("an override states what is reserved, a limit, or both");
            }
            if (untilMillis <= fromMillis.orElse(Long.MIN_VALUE)) {
                throw new IllegalArgumentException("an override ends after it begins");
            }
        }

        public boolean isOpenAt(long millis) {
            return fromMillis.orElse(Long.MIN_VALUE) <= millis && millis < untilMillis;
        }
    }

    public Quota {
        turns = List.copyOf(turns);
        for (int i = 1; i < turns.size(); i++) {
            if (turns.get(i).atMillis() <= turns.get(i - 1).atMillis()) {
                throw new IllegalArgumentException("turns are in order of time");
            }
        }
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
                OptionalLong.empty(),
                false,
                List.of(),
                false);
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
        return with(reservedGpuMilli, OptionalLong.of(gpuMilli), lendableGpuMilli, drainByMillis, turns);
    }

    /** The same with a higher limit, now and at every turn; without a limit there is nothing to raise. */
    public Quota withHigherLimit(long gpuMilli) {
        return with(
                reservedGpuMilli,
                sum(limitGpuMilli, gpuMilli),
                lendableGpuMilli,
                drainByMillis,
                turns.stream()
                        .map(turn ->
                                new Turn(turn.atMillis(), turn.reservedGpuMilli(), sum(turn.limitGpuMilli(), gpuMilli)))
                        .toList());
    }

    /** The same with more reserved, now and at every turn. */
    public Quota withMoreReserved(long gpuMilli) {
        return with(
                reservedGpuMilli + gpuMilli,
                limitGpuMilli,
                lendableGpuMilli,
                drainByMillis,
                turns.stream()
                        .map(turn ->
                                new Turn(turn.atMillis(), turn.reservedGpuMilli() + gpuMilli, turn.limitGpuMilli()))
                        .toList());
    }

    private static OptionalLong sum(OptionalLong amount, long more) {
        return amount.isPresent() ? OptionalLong.of(amount.getAsLong() + more) : amount;
    }

    /** The same with more reserved, of which a part is lent; the limit rises with it. */
    public Quota raisedBy(long gpuMilli, long lendable) {
        return with(
                reservedGpuMilli + gpuMilli,
                limitGpuMilli.isPresent() ? OptionalLong.of(limitGpuMilli.getAsLong() + gpuMilli) : limitGpuMilli,
                lendableGpuMilli.isPresent() || lendable < gpuMilli
                        ? OptionalLong.of(lendableGpuMilli.orElse(reservedGpuMilli) + lendable)
                        : lendableGpuMilli,
                drainByMillis,
                turns);
    }

    /** The same, with something else in its place for a time. */
    public Quota withOverride(Override override) {
        OptionalLong limit = override.limitGpuMilli().isPresent() ? override.limitGpuMilli() : limitGpuMilli;
        return withTurns(List.of(
                new Turn(
                        override.fromMillis().orElse(Long.MIN_VALUE),
                        override.reservedGpuMilli().orElse(reservedGpuMilli),
                        limit),
                new Turn(override.untilMillis(), reservedGpuMilli, limitGpuMilli)));
    }

    /** The quota of a place that nobody states: it reserves at each moment what others reserve together, and is at its defaults else. */
    public static Quota implied(List<Quota> others, QuotaPath path, Scope scope) {
        SortedSet<Long> moments = new TreeSet<>();
        others.forEach(each -> each.turns().forEach(turn -> moments.add(turn.atMillis())));
        List<Turn> turns = new ArrayList<>();
        for (long moment : moments) {
            long then = 0;
            for (Quota each : others) {
                then = Math.addExact(then, each.at(moment).reservedGpuMilli());
            }
            turns.add(new Turn(moment, then, OptionalLong.empty()));
        }
        long first = 0;
        for (Quota each : others) {
            first = Math.addExact(first, each.reservedGpuMilli());
        }
        return reserving(path, scope, first).withTurns(turns).standing(false, true);
    }

    /** The same, with what is held beyond the limit to be gone by then. */
    public Quota drainedBy(long millis) {
        return with(reservedGpuMilli, limitGpuMilli, lendableGpuMilli, OptionalLong.of(millis), turns);
    }

    /** The same; what is under it takes nothing back from outside. */
    public Quota fenced() {
        return standing(true, implied);
    }

    private Quota standing(boolean isFence, boolean isImplied) {
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
                drainByMillis,
                isFence,
                turns,
                isImplied);
    }

    /** Whether anything about it changes by itself. */
    public boolean changesByItself() {
        return !turns.isEmpty() || drainByMillis.isPresent();
    }

    /** What it is from a moment on, until its next turn. */
    public Quota at(long millis) {
        Quota then = this;
        for (Turn turn : turns) {
            then = turn.atMillis() <= millis ? then.with(turn) : then;
        }
        return then;
    }

    private Quota with(Turn turn) {
        return with(turn.reservedGpuMilli(), turn.limitGpuMilli(), lendableGpuMilli, drainByMillis, turns);
    }

    public Quota withTurns(List<Turn> known) {
        return with(reservedGpuMilli, limitGpuMilli, lendableGpuMilli, drainByMillis, known);
    }

    /** The same place and standing, with other amounts. */
    private Quota with(
            long reserved, OptionalLong limit, OptionalLong lendable, OptionalLong drainBy, List<Turn> known) {
        return new Quota(
                path,
                scope,
                reserved,
                limit,
                weightMilli,
                lendable,
                rank,
                overQuota,
                sequence,
                drainBy,
                fence,
                known,
                implied);
    }

    private static void requireAtLeastZero(String what, long amount) {
        if (amount < 0) {
            throw new IllegalArgumentException(what + " is not negative: " + amount);
        }
    }
}
