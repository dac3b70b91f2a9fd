package io.quartermaster.engine.model;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Quota of one node of a quota tree: a tenant's allotment, or a policy's grant to a group.
 *
 * @param reservedGpuMilli the deserved share; others may borrow it while it is unused, as far as it is lendable
 * @param limitGpuMilli the ceiling on concurrent use; empty = none
 * @param weightMilli the part in spare capacity; empty = the reserved amount, or 1000 if no sibling has a reservation
 * @param lendableGpuMilli the part of the reserved amount that others may use; empty = all of it, 0 = dedicated
 * @param rank a lower rank goes first among siblings
 * @param overQuota whether work may run beyond the reserved amount
 * @param sequence the order of creation, which decides if all other criteria are equal; after it, the path decides
 * @param drainByMillis when the engine stops the work beyond the limit; empty = that work continues
 * @param fence whether work under the node reclaims nothing from outside it; others still reclaim from inside
 * @param transitions the changes of the reserved amount and of the limit, in order of time
 * @param implied whether the service added the quota, because the tree needs one for every path. It counts use and
 *     demand, sets no bound, gives no right to reclaim and protects no victim
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
        List<Transition> transitions,
        boolean implied) {

    /** The reserved amount and the limit from a moment on. */
    public record Transition(long atMillis, long reservedGpuMilli, OptionalLong limitGpuMilli) {}

    /**
     * Temporary replacement of the reserved amount, of the limit, or of both.
     *
     * @param fromMillis the first moment of the override; empty = it has no beginning
     * @param untilMillis the first moment after the override
     */
    public record Override(
            OptionalLong reservedGpuMilli, OptionalLong limitGpuMilli, OptionalLong fromMillis, long untilMillis) {

        public Override {
            reservedGpuMilli.ifPresent(reserved -> requireAtLeastZero("reserved", reserved));
            limitGpuMilli.ifPresent(limit -> requireAtLeastZero("limit", limit));
            if (reservedGpuMilli.isEmpty() && limitGpuMilli.isEmpty()) {
                throw new IllegalArgumentException("an override must have a reserved amount, a limit, or both");
            }
            if (untilMillis <= fromMillis.orElse(Long.MIN_VALUE)) {
                throw new IllegalArgumentException("an override must end after it begins");
            }
        }

        public boolean isOpenAt(long millis) {
            return fromMillis.orElse(Long.MIN_VALUE) <= millis && millis < untilMillis;
        }
    }

    public Quota {
        transitions = List.copyOf(transitions);
        for (int i = 1; i < transitions.size(); i++) {
            if (transitions.get(i).atMillis() <= transitions.get(i - 1).atMillis()) {
                throw new IllegalArgumentException("transitions must be in order of time");
            }
        }
        requireAtLeastZero("reserved", reservedGpuMilli);
        limitGpuMilli.ifPresent(limit -> requireAtLeastZero("limit", limit));
        weightMilli.ifPresent(weight -> requireAtLeastZero("weight", weight));
        lendableGpuMilli.ifPresent(lendable -> requireAtLeastZero("lendable", lendable));
    }

    /** Creates a quota without transitions, drain date or fence. */
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

    /** Creates a quota with sequence 0, for quotas that have no order of creation. */
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

    /** Creates a quota with a reserved amount and defaults: no limit, all of it lendable, over-quota allowed. */
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
        return with(reservedGpuMilli, OptionalLong.of(gpuMilli), lendableGpuMilli, drainByMillis, transitions);
    }

    /** A copy with a higher limit, now and at every transition; where it has no limit, it gets none. */
    public Quota withHigherLimit(long gpuMilli) {
        return with(
                reservedGpuMilli,
                sum(limitGpuMilli, gpuMilli),
                lendableGpuMilli,
                drainByMillis,
                transitions.stream()
                        .map(transition -> new Transition(
                                transition.atMillis(),
                                transition.reservedGpuMilli(),
                                sum(transition.limitGpuMilli(), gpuMilli)))
                        .toList());
    }

    /** A copy with a higher reserved amount, now and at every transition. */
    public Quota withMoreReserved(long gpuMilli) {
        return with(
                reservedGpuMilli + gpuMilli,
                limitGpuMilli,
                lendableGpuMilli,
                drainByMillis,
                transitions.stream()
                        .map(transition -> new Transition(
                                transition.atMillis(),
                                transition.reservedGpuMilli() + gpuMilli,
                                transition.limitGpuMilli()))
                        .toList());
    }

    private static OptionalLong sum(OptionalLong amount, long more) {
        return amount.isPresent() ? OptionalLong.of(amount.getAsLong() + more) : amount;
    }

    /** A copy with a higher reserved amount, of which a part is lendable; the limit rises by the same amount. */
    public Quota raisedBy(long gpuMilli, long lendable) {
        return with(
                reservedGpuMilli + gpuMilli,
                limitGpuMilli.isPresent() ? OptionalLong.of(limitGpuMilli.getAsLong() + gpuMilli) : limitGpuMilli,
                lendableGpuMilli.isPresent() || lendable < gpuMilli
                        ? OptionalLong.of(lendableGpuMilli.orElse(reservedGpuMilli) + lendable)
                        : lendableGpuMilli,
                drainByMillis,
                transitions);
    }

    /** A copy to which an override applies from its beginning to its end. */
    public Quota withOverride(Override override) {
        OptionalLong limit = override.limitGpuMilli().isPresent() ? override.limitGpuMilli() : limitGpuMilli;
        return withTransitions(List.of(
                new Transition(
                        override.fromMillis().orElse(Long.MIN_VALUE),
                        override.reservedGpuMilli().orElse(reservedGpuMilli),
                        limit),
                new Transition(override.untilMillis(), reservedGpuMilli, limitGpuMilli)));
    }

    /**
     * Creates the quota of a node for which no quota is declared. At each moment its reserved amount is the sum of
     * those of the given quotas; all other terms have their defaults.
     */
    public static Quota implied(List<Quota> others, QuotaPath path, Scope scope) {
        SortedSet<Long> moments = new TreeSet<>();
        others.forEach(each -> each.transitions().forEach(transition -> moments.add(transition.atMillis())));
        List<Transition> transitions = new ArrayList<>();
        for (long moment : moments) {
            long then = 0;
            for (Quota each : others) {
                then = Math.addExact(then, each.at(moment).reservedGpuMilli());
            }
            transitions.add(new Transition(moment, then, OptionalLong.empty()));
        }
        long first = 0;
        for (Quota each : others) {
            first = Math.addExact(first, each.reservedGpuMilli());
        }
        return reserving(path, scope, first).withTransitions(transitions).withFlags(false, true);
    }

    /** A copy with a drain date, at which the engine stops the work beyond the limit. */
    public Quota drainedBy(long millis) {
        return with(reservedGpuMilli, limitGpuMilli, lendableGpuMilli, OptionalLong.of(millis), transitions);
    }

    /** A copy with a fence: work under it reclaims nothing from outside. */
    public Quota fenced() {
        return withFlags(true, implied);
    }

    private Quota withFlags(boolean isFence, boolean isImplied) {
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
                transitions,
                isImplied);
    }

    /** Whether the passage of time changes the quota or stops work under it. */
    public boolean changesByItself() {
        return !transitions.isEmpty() || drainByMillis.isPresent();
    }

    /** A copy with the amounts that apply from a moment on, until the next transition. */
    public Quota at(long millis) {
        Quota then = this;
        for (Transition transition : transitions) {
            then = transition.atMillis() <= millis ? then.with(transition) : then;
        }
        return then;
    }

    private Quota with(Transition transition) {
        return with(
                transition.reservedGpuMilli(),
                transition.limitGpuMilli(),
                lendableGpuMilli,
                drainByMillis,
                transitions);
    }

    public Quota withTransitions(List<Transition> known) {
        return with(reservedGpuMilli, limitGpuMilli, lendableGpuMilli, drainByMillis, known);
    }

    /** A copy with other amounts and transitions. */
    private Quota with(
            long reserved, OptionalLong limit, OptionalLong lendable, OptionalLong drainBy, List<Transition> known) {
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
            throw new IllegalArgumentException(what + " must not be negative: " + amount);
        }
    }
}
