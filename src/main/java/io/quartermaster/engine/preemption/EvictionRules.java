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
import java.util.OptionalLong;
import java.util.function.ToLongFunction;

/**
 * The rights of preemptors to evict victims. The right to reclaim compares two branches: those of preemptor and victim
 * just below their lowest common ancestor, by the use at this point of the simulation. The last eviction may take a
 * victim's branch below its share, because workloads are indivisible. A branch that is not above its share loses
 * nothing.
 */
final class EvictionRules {
    private static final List<ToLongFunction<QuotaNode>> MEASURES =
            List.of(QuotaNode::reservedGpuMilli, QuotaNode::fairGpuMilli);

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

    /** Whether the workload is old enough to be moved, or to be evicted for work of its own group. */
    boolean pastMinRuntime(EvictionCandidate evictionCandidate) {
        return mayBeSignalled(evictionCandidate)
                && nowMillis - evictionCandidate.startedMillis() >= settings.minRuntimeMillis();
    }

    /**
     * Whether a moved workload may start again. A move changes no sum, but it is not allowed where use exceeds a limit
     * that was cut.
     */
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
            if (cap.used().projected() > cap.max()) {
                return false;
            }
        }
        return true;
    }

    boolean pastReclaimMinRuntime(EvictionCandidate evictionCandidate) {
        long least = Math.max(settings.minRuntimeMillis(), settings.reclaimMinRuntimeMillis());
        return mayBeSignalled(evictionCandidate) && nowMillis - evictionCandidate.startedMillis() >= least;
    }

    /**
     * Workers that are leaving share one deadline. A workload with such workers may lose more of them only if the new
     * deadline is the same.
     */
    private boolean mayBeSignalled(EvictionCandidate evictionCandidate) {
        long deadlineMillis = nowMillis + settings.graceMillis();
        return churnGuard.mayEvict(evictionCandidate.id())
                && evictionCandidate.leavingByMillis().orElse(deadlineMillis) == deadlineMillis;
    }

    /**
     * Whether any reclaim is possible. For every victim, the preemptor's own group must stay within its reservation or
     * its fair share in one of the trees. An implied quota sets no bound; there, the groups above it decide.
     *
     * @param leaving the units of its own group that may be evicted for it
     */
    boolean couldReclaim(QuotaRequest quotaRequest, List<EvictionUnit> leaving) {
        long leavesMilli = 0;
        for (EvictionUnit evictionUnit : leaving) {
            leavesMilli += evictionUnit.booking().gpuMilli();
        }
        boolean could = false;
        for (QuotaNode leaf : quotaRequest.leaves()) {
            could |= leaf.isImplied()
                    || leaf.used().projected() - leavesMilli + quotaRequest.gpuMilli() <= leaf.entitledGpuMilli();
        }
        return could && settings.reclaim() != Settings.Reclaim.NONE;
    }

    /**
     * The right by which the preemptor may now reclaim from a victim of another group. A fence prevents reclaims from
     * inside to outside, but not from outside to inside.
     */
    Optional<EvictionReceipt.Right> reclaimRight(Preemptor preemptor, EvictionCandidate victim) {
        if (victim.booking().path().equals(preemptor.path())) {
            return Optional.empty();
        }
        List<Pair> pairs = pairs(preemptor, victim);
        return fence(pairs).isPresent() ? Optional.empty() : byShares(preemptor, victim, pairs);
    }

    /**
     * The fence without which the preemptor could now reclaim from a victim of another group; empty if there is none.
     */
    Optional<QuotaPath> fenceInTheWay(Preemptor preemptor, EvictionCandidate victim) {
        List<Pair> pairs = pairs(preemptor, victim);
        return fence(pairs)
                .filter(fence -> byShares(preemptor, victim, pairs).isPresent())
                .map(QuotaNode::path);
    }

    /** The innermost fence around the preemptor that does not cover the victim, in the first tree that has one. */
    private static Optional<QuotaNode> fence(List<Pair> pairs) {
        for (Pair pair : pairs) {
            Optional<QuotaNode> fence = pair.preemptorLeaf().fenceAgainst(pair.victimBranch());
            if (fence.isPresent()) {
                return fence;
            }
        }
        return Optional.empty();
    }

    /**
     * Whether the workload started from a backfill reservation within the last {@code patience}. The right of fair
     * share does not reclaim it then, because its start may have taken its group above its share.
     */
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
                        .or(() -> preemptor.allowedActions() != Preemptor.AllowedActions.RECLAIM_RESERVED
                                        && !hasItsTimeSlice(victim)
                                        && grants(preemptor, pairs, QuotaNode::fairGpuMilli, false)
                                ? Optional.of(EvictionReceipt.Right.FAIR_SHARE)
                                : Optional.empty());
        };
    }

    /**
     * Whether the preemptor may evict work under a branch of its first tree, as far as this is the same for all that
     * work. On its own path it may. Every other branch leaves that path at some node, where the two branches are
     * compared.
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
        return !isBelowCommon
                || branch.isImplied()
                || aboveItsShare
                || branch.occupiedGpuMilli() > branch.reservedGpuMilli();
    }

    /** The branch of another group that is compared with the preemptor's branch in the first tree. */
    QuotaNode branchToCompare(Preemptor preemptor, QuotaPath group) {
        QuotaNode mine = preemptor.quotaRequest().leaves().getFirst();
        return pair(mine, mine.tree().leaf(group)).victimBranch();
    }

    /**
     * The amount that a branch holds beyond its share, by the right that takes most. The branch loses victims only
     * while this is more than 0. Empty if no right bounds its loss: the quota is implied, or the tree has capacity that
     * is not lent, which counts as used.
     */
    OptionalLong excessGpuMilli(QuotaNode branch) {
        if (branch.isImplied() || !branch.tree().lendsAll()) {
            return OptionalLong.empty();
        }
        long shareGpuMilli = settings.reclaim() == Settings.Reclaim.FAIR_SHARE
                ? Math.min(branch.fairGpuMilli(), branch.reservedGpuMilli())
                : branch.reservedGpuMilli();
        return OptionalLong.of(Math.max(0, branch.used().projected() - shareGpuMilli));
    }

    private static Optional<EvictionReceipt.Right> byReserved(Preemptor preemptor, List<Pair> pairs) {
        return grants(preemptor, pairs, QuotaNode::reservedGpuMilli, true)
                ? Optional.of(EvictionReceipt.Right.RESERVED)
                : Optional.empty();
    }

    /**
     * The two branches in a tree in which at least one of them has a stated quota. Within one group, both are the leaf
     * of the group.
     */
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
     * Whether a right holds. One tree must grant it to the preemptor's side. In every tree, the victim's branch must be
     * above its measure. An implied quota does neither; otherwise a quota that one tenant states over all pools could
     * take what is reserved for another tenant in a pool. Where reserved amounts are compared, the idle amount that a
     * branch does not lend counts as used. Otherwise a group that runs on what its sister group does not lend could
     * take that amount from other tenants.
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

    /**
     * The preemptor's side of its rights against work of other tenants, as a number that is the same while these
     * answers are: for each tree, whether its path stays within what is reserved, and within its fair share.
     */
    int rightsAgainstOtherTenants(Preemptor preemptor) {
        int answers = 1;
        for (QuotaNode leaf : preemptor.quotaRequest().leaves()) {
            Pair pair = new Pair(leaf, leaf.branchBelow(leaf.tree().root()), leaf);
            long gpuMilli = preemptor.quotaRequest().gpuMilli();
            answers = answers * 4
                    + (staysWithin(pair, gpuMilli, QuotaNode::reservedGpuMilli) ? 2 : 0)
                    + (staysWithin(pair, gpuMilli, QuotaNode::fairGpuMilli) ? 1 : 0);
        }
        return answers;
    }

    /**
     * Whether the preemptor could get a right against other tenants that it does not have now, after work of its own
     * tenant has left.
     *
     * @param leavingGpuMilli the most that can leave below a node of its path
     */
    boolean couldGainAgainstOtherTenants(Preemptor preemptor, ToLongFunction<QuotaNode> leavingGpuMilli) {
        long gpuMilli = preemptor.quotaRequest().gpuMilli();
        for (QuotaNode leaf : preemptor.quotaRequest().leaves()) {
            Pair pair = new Pair(leaf, leaf.branchBelow(leaf.tree().root()), leaf);
            for (ToLongFunction<QuotaNode> measure : MEASURES) {
                if (!staysWithin(pair, gpuMilli, measure) && staysWithin(pair, gpuMilli, measure, leavingGpuMilli)) {
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean staysWithin(Pair pair, long gpuMilli, ToLongFunction<QuotaNode> measure) {
        return staysWithin(pair, gpuMilli, measure, node -> 0);
    }

    private static boolean staysWithin(
            Pair pair, long gpuMilli, ToLongFunction<QuotaNode> measure, ToLongFunction<QuotaNode> leavingGpuMilli) {
        QuotaNode branch = pair.preemptorBranch();
        if (wouldUse(branch, gpuMilli, leavingGpuMilli) > measure.applyAsLong(branch)) {
            return false;
        }
        for (QuotaNode node = pair.preemptorLeaf(); node != branch && node != null; node = node.parent()) {
            if (!node.isImplied() && wouldUse(node, gpuMilli, leavingGpuMilli) > node.entitledGpuMilli()) {
                return false;
            }
        }
        return true;
    }

    private static long wouldUse(QuotaNode node, long gpuMilli, ToLongFunction<QuotaNode> leavingGpuMilli) {
        return node.used().projected() - leavingGpuMilli.applyAsLong(node) + gpuMilli;
    }

    /** Whether the preemptor may now evict the victim, by any right. */
    boolean mayEvict(Preemptor preemptor, EvictionCandidate victim) {
        return mayPreempt(preemptor, victim) || reclaimRight(preemptor, victim).isPresent();
    }

    /** Whether the preemptor may evict the victim because of its higher priority alone. */
    boolean mayPreempt(Preemptor preemptor, EvictionCandidate victim) {
        return victim.booking().path().equals(preemptor.path()) && victim.priority() < preemptor.priority();
    }
}
