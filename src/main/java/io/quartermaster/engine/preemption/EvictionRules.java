package io.quartermaster.engine.preemption;

import io.quartermaster.engine.model.EvictionReceipt;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.placement.Booking;
import io.quartermaster.engine.placement.Cluster;
import io.quartermaster.engine.quota.Cap;
import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.QuotaRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.ToLongFunction;

/**
 * Who may make whom give way. The right to reclaim compares the two branches just below the lowest common ancestor of
 * claimant and victim, by what is used at this point of the simulation: a victim's branch may go below its share with
 * its last eviction, jobs being indivisible, but none is touched that is not above it.
 */
final class EvictionRules {
    private final Settings settings;
    private final Cluster cluster;
    private final ChurnGuard churnGuard;
    private final long nowMillis;

    EvictionRules(Settings settings, Cluster cluster, ChurnGuard churnGuard, long nowMillis) {
        this.churnGuard = churnGuard;
        this.settings = settings;
        this.cluster = cluster;
        this.nowMillis = nowMillis;
    }

    /** Whether it may be moved, or stopped for work of its own group. */
    boolean pastMinRuntime(EvictionCandidate evictionCandidate) {
        return mayBeSignalled(evictionCandidate)
                && nowMillis - evictionCandidate.startedMillis() >= settings.minRuntimeMillis();
    }

    /** Whether it might start again where it is moved to, which changes no sum: not where more is held than a limit allows, which was cut. */
    boolean isReadmissible(EvictionCandidate evictionCandidate) {
        Booking booking = evictionCandidate.booking();
        for (QuotaNode leaf : cluster.leaves(evictionCandidate.allocation().pool(), booking.path())) {
            for (QuotaNode node : leaf.belowRoot()) {
                if (node.used().projected() > node.limitGpuMilli().orElse(Long.MAX_VALUE)) {
                    return false;
                }
            }
        }
        for (Cap cap : cluster.caps().over(booking.path(), booking.user())) {
            if (cap.used().projected() > cap.most()) {
                return false;
            }
        }
        return true;
    }

    boolean pastReclaimMinRuntime(EvictionCandidate evictionCandidate) {
        long least = Math.max(settings.minRuntimeMillis(), settings.reclaimMinRuntimeMillis());
        return mayBeSignalled(evictionCandidate) && nowMillis - evictionCandidate.startedMillis() >= least;
    }

    /** Whose workers are leaving loses more of them only in the same moment, so that all have one deadline. */
    private boolean mayBeSignalled(EvictionCandidate evictionCandidate) {
        long deadlineMillis = nowMillis + settings.graceMillis();
        return churnGuard.mayEvict(evictionCandidate.id())
                && evictionCandidate.leavingByMillis().orElse(deadlineMillis) == deadlineMillis;
    }

    /**
     * Whether there may be anybody to reclaim from: whoever the victim, the claimant's own group must stay within its
     * reservation or its fair share in one of the trees.
     *
     * @param leaving what its own group may give up for it
     */
    boolean couldReclaim(QuotaRequest quotaRequest, List<EvictionUnit> leaving) {
        long leavesMilli = 0;
        for (EvictionUnit evictionUnit : leaving) {
            leavesMilli += evictionUnit.tenure().gpuMilli();
        }
        boolean could = false;
        for (QuotaNode leaf : quotaRequest.leaves()) {
            could |= leaf.used().projected() - leavesMilli + quotaRequest.gpuMilli() <= leaf.entitledGpuMilli();
        }
        return could && settings.reclaim() != Settings.Reclaim.NONE;
    }

    /** By which right the claimant may take from the victim now, being of another group; a fence stops looking outward, but not inward. */
    Optional<EvictionReceipt.Right> reclaimRight(Preemptor preemptor, EvictionCandidate victim) {
        if (victim.booking().path().equals(preemptor.path())) {
            return Optional.empty();
        }
        List<Pair> pairs = pairs(preemptor, victim);
        return fence(pairs).isPresent() ? Optional.empty() : byShares(preemptor, victim, pairs);
    }

    /** The fence without which the claimant might take from the victim now, being of another group; empty where none is in the way. */
    Optional<QuotaPath> fenceInTheWay(Preemptor preemptor, EvictionCandidate victim) {
        List<Pair> pairs = pairs(preemptor, victim);
        return fence(pairs)
                .filter(fence -> byShares(preemptor, victim, pairs).isPresent())
                .map(QuotaNode::path);
    }

    /** The innermost fence around the claimant that the victim is outside of, in the first tree that has one. */
    private static Optional<QuotaNode> fence(List<Pair> pairs) {
        for (Pair pair : pairs) {
            Optional<QuotaNode> fence = pair.preemptorLeaf().fenceAgainst(pair.victimBranch());
            if (fence.isPresent()) {
                return fence;
            }
        }
        return Optional.empty();
    }

    /** Whether it started from a backfill reservation so lately that it is not reclaimed by the right of fair share: its group may be above its share by it. */
    boolean hasItsTimeSlice(EvictionCandidate evictionCandidate) {
        return evictionCandidate.fromReservation()
                && settings.patienceMillis().isPresent()
                && nowMillis - evictionCandidate.startedMillis()
                        < settings.patienceMillis().getAsLong();
    }

    private Optional<EvictionReceipt.Right> byShares(Preemptor preemptor, EvictionCandidate victim, List<Pair> pairs) {
        return switch (settings.reclaim()) {
            case NONE -> Optional.empty();
            case RESERVED -> byReserved(preemptor, pairs);
            case FAIR_SHARE ->
                byReserved(preemptor, pairs)
                        .or(() -> preemptor.allowedActions() != Preemptor.AllowedActions.TAKING_BACK_RESERVED
                                        && !hasItsTimeSlice(victim)
                                        && grants(preemptor, pairs, QuotaNode::fairGpuMilli, false)
                                ? Optional.of(EvictionReceipt.Right.FAIR_SHARE)
                                : Optional.empty());
        };
    }

    /**
     * Whether the claimant may make anybody stop under a branch of the tree that it counts in first, as far as that is the same for all of
     * them. On its own path it may; every other branch hangs off that path somewhere, and there the two branches are compared.
     */
    boolean mayTakeFrom(Preemptor preemptor, QuotaNode branch, boolean ofOthers) {
        QuotaNode leaf = preemptor.quotaRequest().leaves().getFirst();
        QuotaNode above = branch.parent();
        if (above == null || branch.covers(leaf)) {
            return true;
        }
        if (!ofOthers || settings.reclaim() == Settings.Reclaim.NONE) {
            return false;
        }
        boolean isBelowCommon = above.covers(leaf);
        boolean aboveItsShare = settings.reclaim() == Settings.Reclaim.FAIR_SHARE
                && branch.used().projected() > branch.fairGpuMilli();
        return !isBelowCommon || aboveItsShare || branch.occupiedGpuMilli() > branch.reservedGpuMilli();
    }

    private static Optional<EvictionReceipt.Right> byReserved(Preemptor preemptor, List<Pair> pairs) {
        return grants(preemptor, pairs, QuotaNode::reservedGpuMilli, true)
                ? Optional.of(EvictionReceipt.Right.RESERVED)
                : Optional.empty();
    }

    /** The two branches in one tree that says something of one of them; of one group, the group itself twice. */
    record Pair(QuotaNode preemptorLeaf, QuotaNode preemptorBranch, QuotaNode victimBranch) {}

    List<Pair> pairs(Preemptor preemptor, EvictionCandidate victim) {
        PoolId pool = victim.allocation().pool();
        List<QuotaNode> mine = cluster.leaves(pool, preemptor.path());
        List<QuotaNode> theirs = cluster.leaves(pool, victim.booking().path());
        List<Pair> pairs = new ArrayList<>(2);
        for (int i = 0; i < mine.size(); i++) {
            Pair pair = pair(mine.get(i), theirs.get(i));
            if (i == 0
                    || !pair.preemptorBranch().isImplied()
                    || !pair.victimBranch().isImplied()) {
                pairs.add(pair);
            }
        }
        return pairs;
    }

    private static Pair pair(QuotaNode mine, QuotaNode theirs) {
        if (mine == theirs) {
            return new Pair(mine, mine, theirs);
        }
        QuotaNode common = mine.commonWith(theirs);
        return new Pair(mine, mine.branchBelow(common), theirs.branchBelow(common));
    }

    /**
     * One tree must grant the claimant's side; in every tree the victim's branch must be above its measure. A quota that nobody stated does
     * neither: else what one tenant states over all pools would take from another what is reserved for it in a pool. What a
     * branch keeps idle counts as used where reservations are compared: a group that runs on what its sister group does
     * not lend would otherwise take it from other tenants.
     */
    private static boolean grants(
            Preemptor preemptor, List<Pair> pairs, ToLongFunction<QuotaNode> measure, boolean idleToo) {
        boolean granted = false;
        for (Pair pair : pairs) {
            QuotaNode victim = pair.victimBranch();
            long used = idleToo ? victim.occupiedGpuMilli() : victim.used().projected();
            if (used <= measure.applyAsLong(victim) && !victim.isImplied()) {
                return false;
            }
            granted |= !pair.preemptorBranch().isImplied()
                    && staysWithin(pair, preemptor.quotaRequest().gpuMilli(), measure);
        }
        return granted;
    }

    private static boolean staysWithin(Pair pair, long gpuMilli, ToLongFunction<QuotaNode> measure) {
        QuotaNode branch = pair.preemptorBranch();
        if (branch.used().projected() + gpuMilli > measure.applyAsLong(branch)) {
            return false;
        }
        for (QuotaNode node = pair.preemptorLeaf(); node != branch && node != null; node = node.parent()) {
            if (!node.isImplied() && node.used().projected() + gpuMilli > node.entitledGpuMilli()) {
                return false;
            }
        }
        return true;
    }

    /** Whether the claimant may make the victim stop now, by whichever right. */
    boolean mayEvict(Preemptor preemptor, EvictionCandidate victim) {
        return toPreempt(preemptor, victim) || reclaimRight(preemptor, victim).isPresent();
    }

    /** Whether the claimant may stop the victim for its higher priority alone. */
    boolean toPreempt(Preemptor preemptor, EvictionCandidate victim) {
        return victim.booking().path().equals(preemptor.path()) && victim.priority() < preemptor.priority();
    }
}
