package io.quartermaster.engine.reference;

import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Settings;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;

/** The rights of a preemptor to evict victims, given the holdings at the moment of each eviction. */
final class Rights {
    private final Settings settings;
    private final Cell cell;
    private final long nowMillis;
    private final MakingRoom.Preemptor preemptor;

    Rights(Settings settings, Cell cell, long nowMillis, MakingRoom.Preemptor preemptor) {
        this.settings = settings;
        this.cell = cell;
        this.nowMillis = nowMillis;
        this.preemptor = preemptor;
    }

    boolean mayEvict(MakingRoom.Unit victim, Holdings holdings) {
        boolean mayPreempt = isOwnGroup(victim)
                && victim.workload().priority() < preemptor.workload().priority();
        return mayPreempt || mayReclaim(victim, holdings);
    }

    private boolean isOwnGroup(MakingRoom.Unit victim) {
        return victim.workload().path().equals(preemptor.workload().path());
    }

    /** The two branches just below the lowest common ancestor of preemptor and victim, in one tree. */
    private record Pair(QuotaBranch leaf, QuotaBranch own, QuotaBranch victims) {}

    private List<Pair> pairs(MakingRoom.Unit victim) {
        PoolId pool = victim.all().pool();
        List<QuotaBranch> mine = cell.leaves(pool, preemptor.workload().path());
        List<QuotaBranch> theirs = cell.leaves(pool, victim.workload().path());
        List<Pair> pairs = new ArrayList<>();
        for (int i = 0; i < mine.size(); i++) {
            QuotaBranch own = mine.get(i);
            while (!own.above().covers(theirs.get(i))) {
                own = own.above();
            }
            QuotaBranch victims = theirs.get(i);
            while (victims.above() != own.above()) {
                victims = victims.above();
            }
            pairs.add(new Pair(mine.get(i), own, victims));
        }
        return pairs;
    }

    /** The right to reclaim: by R, and with {@code reclaim: fair-share} also by F. */
    boolean mayReclaim(MakingRoom.Unit victim, Holdings holdings) {
        if (isOwnGroup(victim) || settings.reclaim() == Settings.Reclaim.NONE) {
            return false;
        }
        List<Pair> pairs = pairs(victim);
        if (pairs.stream().anyMatch(Rights::isFenced)) {
            return false;
        }
        if (isGranted(pairs, holdings, node -> node.terms.reserved(), true)) {
            return true;
        }
        return settings.reclaim() == Settings.Reclaim.FAIR_SHARE
                && preemptor.allowed() != MakingRoom.Allowed.TAKING_BACK_RESERVED
                && !hasTimeSlice(victim)
                && isGranted(pairs, holdings, node -> node.fair, false);
    }

    /** Work under a fenced quota reclaims only from inside the fence (ADR 24). */
    private static boolean isFenced(Pair pair) {
        for (QuotaBranch node = pair.leaf; !node.covers(pair.victims); node = node.above()) {
            if (node.terms.fence()) {
                return true;
            }
        }
        return false;
    }

    /** A start from a backfill reservation is not reclaimed by fair share before it has run for the patience. */
    private boolean hasTimeSlice(MakingRoom.Unit victim) {
        return victim.holding().fromReservation()
                && settings.patienceMillis().isPresent()
                && nowMillis - victim.holding().startedMillis()
                        < settings.patienceMillis().getAsLong();
    }

    /**
     * One tree must grant the preemptor's side, and the victim's branch must be above its measure in every tree. Where
     * reservations are compared, the idle amount that a branch does not lend counts as used (ADR 13).
     */
    private boolean isGranted(
            List<Pair> pairs, Holdings holdings, ToLongFunction<QuotaBranch> measure, boolean idleCounts) {
        for (Pair pair : pairs) {
            long used = pair.victims.used(holdings) + (idleCounts ? pair.victims.heldBack(holdings) : 0);
            if (used <= measure.applyAsLong(pair.victims)) {
                return false;
            }
        }
        return pairs.stream().anyMatch(pair -> staysWithin(pair, holdings, measure));
    }

    /** The branch stays within its measure, and every node under it on the preemptor's path within max(R, F). */
    private boolean staysWithin(Pair pair, Holdings holdings, ToLongFunction<QuotaBranch> measure) {
        long gpuMilli = preemptor.request().gpuMilli();
        if (pair.own.used(holdings) + gpuMilli > measure.applyAsLong(pair.own)) {
            return false;
        }
        for (QuotaBranch node = pair.leaf; node != pair.own; node = node.above()) {
            if (node.used(holdings) + gpuMilli > node.entitled()) {
                return false;
            }
        }
        return true;
    }
}
