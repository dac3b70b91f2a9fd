package io.quartermaster.engine.quota;

import io.quartermaster.engine.model.QuotaPath;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.ToLongFunction;

/**
 * The bounds that the quota trees set for a start, independent of free devices. Limits hold in every tree. Bounds by
 * the reserved amount hold only if no tree finds the start within its reservation.
 */
public final class QuotaAdmission {

    /** The bound that prevents a start. */
    public enum Bound {
        /** No quota names this path. */
        UNNAMED,
        LIMIT,
        /** The cap on the GPUs of one user. */
        USER_CAP,
        /** The cap on running workloads. */
        WORKLOAD_CAP,
        OVER_QUOTA_OFF,
        NOT_PREEMPTIBLE,
        /** The start would need capacity that other nodes do not lend. */
        HELD_FOR_OTHERS,
        /** The start would exceed the capacity. */
        CAPACITY
    }

    /**
     * A bound that a start would exceed.
     *
     * @param node the node that has the bound; for a cap, the leaf at which the request would count
     * @param cap the bound, if it is one outside the trees
     * @param usedGpuMilli the use that counts against the bound; for a cap on workloads, their number
     */
    public record Violation(Bound bound, QuotaNode node, Optional<Cap> cap, long usedGpuMilli, long boundGpuMilli) {

        Violation(Bound bound, QuotaNode node, long usedGpuMilli, long boundGpuMilli) {
            this(bound, node, Optional.empty(), usedGpuMilli, boundGpuMilli);
        }
    }

    private QuotaAdmission() {}

    /** The first bound that prevents an immediate start. Neither current nor projected use may exceed a bound. */
    public static Optional<Violation> current(QuotaRequest quotaRequest) {
        Optional<Violation> violation = projected(quotaRequest);
        return violation.isPresent() ? violation : check(quotaRequest, UsageView.CURRENT);
    }

    /**
     * The first bound that prevents an immediate start, in the order of {@link Bound}, over current and projected use.
     */
    public static Optional<Violation> firstCurrent(QuotaRequest quotaRequest) {
        Optional<Violation> promised = projected(quotaRequest);
        Optional<Violation> held = check(quotaRequest, UsageView.CURRENT);
        boolean heldFirst = promised.isEmpty()
                || held.isPresent()
                        && held.get().bound().compareTo(promised.get().bound()) < 0;
        return heldFirst ? held : promised;
    }

    /** The first bound that prevents a start after all evicted work has left. */
    public static Optional<Violation> projected(QuotaRequest quotaRequest) {
        return check(quotaRequest, UsageView.PROJECTED);
    }

    /** The first bound that would prevent a start if there were no nominations. */
    public static Optional<Violation> ignoringNominations(QuotaRequest quotaRequest) {
        return check(quotaRequest, UsageView.CURRENT);
    }

    /**
     * Like {@link #current}, but without the check of capacity. Only use of the same tenant can change the answer,
     * unless a node keeps capacity that it does not lend.
     */
    public static Optional<Violation> ofTenantCurrent(QuotaRequest quotaRequest) {
        Optional<Violation> violation = ofTenantProjected(quotaRequest);
        return violation.isPresent() ? violation : ofTenant(quotaRequest, UsageView.CURRENT);
    }

    /** Like {@link #projected}, but without the check of capacity. */
    public static Optional<Violation> ofTenantProjected(QuotaRequest quotaRequest) {
        return ofTenant(quotaRequest, UsageView.PROJECTED);
    }

    /**
     * The limit that prevents the start of a nominated workload. A nomination that was within the reservation when it
     * was made stays valid, even if other groups have borrowed since.
     */
    public static Optional<Violation> forNominated(QuotaRequest quotaRequest, UsageView view) {
        Optional<Violation> violation = unnamed(quotaRequest, view);
        return violation.isPresent() ? violation : overLimit(quotaRequest, view);
    }

    /**
     * Whether the bounds of the request's path exclude it even without any other use. The answer covers the present and
     * all known transitions of the quotas.
     */
    public static boolean isBeyondAllBounds(QuotaRequest quotaRequest) {
        boolean reserved = false;
        boolean open = false;
        for (QuotaNode leaf : quotaRequest.leaves()) {
            open |= leaf.tree().isOpen();
            boolean here = true;
            for (QuotaNode node : leaf.belowRoot()) {
                here &= quotaRequest.gpuMilli() <= node.maxReservedGpuMilli();
            }
            reserved |= here;
        }
        if (!quotaRequest.leaves().getFirst().isNamed() || !quotaRequest.preemptible() && !reserved && !open) {
            return true;
        }
        for (QuotaNode node : quotaRequest.path()) {
            boolean bounded = !node.overQuota()
                    || (quotaRequest.dedicatedOnly() && !node.tree().isOpen());
            boolean beyondReserved = bounded && quotaRequest.gpuMilli() > node.maxReservedGpuMilli() && !reserved;
            boolean beyondLimit = quotaRequest.gpuMilli() > node.ceilingGpuMilli()
                    && node.fitsFromMillis(quotaRequest.gpuMilli()).isEmpty();
            if (beyondReserved || beyondLimit) {
                return true;
            }
        }
        for (Cap cap : quotaRequest.caps()) {
            if (cap.countOf(quotaRequest.gpuMilli(), quotaRequest.whole()) > cap.max()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Whether capacity that other nodes never lend excludes the request even without any use. The answer covers the
     * present and all known transitions of the quotas.
     *
     * @param capacity the greatest capacity for each tree
     */
    public static boolean isBeyondWhatIsLent(QuotaRequest quotaRequest, ToLongFunction<QuotaTree> capacity) {
        for (QuotaNode leaf : quotaRequest.leaves()) {
            long dedicatedBeside = 0;
            QuotaNode below = leaf;
            for (QuotaNode node = leaf.parent(); node != null; node = node.parent()) {
                dedicatedBeside += node.dedicatedBeside(below);
                below = node;
                long most = node.isRoot() ? capacity.applyAsLong(node.tree()) : node.maxCeilingGpuMilli();
                if (quotaRequest.gpuMilli() > most - dedicatedBeside) {
                    return true;
                }
            }
        }
        return false;
    }

    /**
     * A limit of a node, or the capacity, that a start would exceed.
     *
     * @param gpuMilli the amount by which it would be exceeded
     */
    public record Excess(QuotaNode node, long gpuMilli) {

        /** Whether the use of a group counts against the limit. */
        public boolean covers(QuotaPath path) {
            return node.covers(node.tree().leaf(path));
        }
    }

    /** The limits and capacities that a start after all evicted work has left would exceed, in every tree. */
    public static List<Excess> excesses(QuotaRequest quotaRequest) {
        List<Excess> excesses = new ArrayList<>(2);
        for (QuotaNode leaf : quotaRequest.leaves()) {
            for (QuotaNode node = leaf; node != null; node = node.parent()) {
                long wouldUse = node.used().projected() + quotaRequest.gpuMilli();
                long ceiling = node.ceilingGpuMilli(UsageView.PROJECTED);
                if (wouldUse > ceiling) {
                    excesses.add(new Excess(node, wouldUse - ceiling));
                }
            }
        }
        return excesses;
    }

    private static Optional<Violation> check(QuotaRequest quotaRequest, UsageView view) {
        Optional<Violation> violation = onItsPath(quotaRequest, view);
        return violation.isPresent() ? violation : overWhatIsLent(quotaRequest, view);
    }

    private static Optional<Violation> ofTenant(QuotaRequest quotaRequest, UsageView view) {
        Optional<Violation> violation = onItsPath(quotaRequest, view);
        boolean mayBeHeld = false;
        for (QuotaNode leaf : quotaRequest.leaves()) {
            mayBeHeld |= !leaf.tree().lendsAll();
        }
        return violation.isPresent() || !mayBeHeld ? violation : overWhatIsLent(quotaRequest, view);
    }

    private static Optional<Violation> onItsPath(QuotaRequest quotaRequest, UsageView view) {
        Optional<Violation> violation = unnamed(quotaRequest, view);
        violation = violation.isPresent() ? violation : overLimit(quotaRequest, view);
        violation = violation.isPresent() ? violation : overReserved(quotaRequest, view);
        return violation.isPresent() ? violation : nonPreemptibleOverReserved(quotaRequest, view);
    }

    private static Optional<Violation> unnamed(QuotaRequest quotaRequest, UsageView view) {
        QuotaNode leaf = quotaRequest.leaves().getFirst();
        return leaf.isNamed()
                ? Optional.empty()
                : Optional.of(new Violation(Bound.UNNAMED, leaf, leaf.used().at(view), 0));
    }

    private static Optional<Violation> overLimit(QuotaRequest quotaRequest, UsageView view) {
        for (QuotaNode node : quotaRequest.path()) {
            long used = node.used().at(view);
            long limit = node.ceilingGpuMilli(view);
            if (used + quotaRequest.gpuMilli() > limit) {
                return Optional.of(new Violation(Bound.LIMIT, node, used, limit));
            }
        }
        return overCap(quotaRequest, view);
    }

    private static Optional<Violation> overCap(QuotaRequest quotaRequest, UsageView view) {
        for (Cap cap : quotaRequest.caps()) {
            long used = cap.used().at(view);
            long more = cap.countOf(quotaRequest.gpuMilli(), quotaRequest.whole());
            if (more > 0 && used + more > cap.max()) {
                Bound bound = cap.user().isPresent() ? Bound.USER_CAP : Bound.WORKLOAD_CAP;
                return Optional.of(
                        new Violation(bound, quotaRequest.leaves().getFirst(), Optional.of(cap), used, cap.max()));
            }
        }
        return Optional.empty();
    }

    private static Optional<Violation> overReserved(QuotaRequest quotaRequest, UsageView view) {
        for (QuotaNode node : quotaRequest.path()) {
            long used = node.used().at(view);
            boolean bounded = !node.overQuota()
                    || (quotaRequest.dedicatedOnly() && !node.tree().isOpen());
            if (bounded && used + quotaRequest.gpuMilli() > node.reservedGpuMilli() && !quotaRequest.withinReserved()) {
                return Optional.of(new Violation(Bound.OVER_QUOTA_OFF, node, used, node.reservedGpuMilli()));
            }
        }
        return Optional.empty();
    }

    private static Optional<Violation> nonPreemptibleOverReserved(QuotaRequest quotaRequest, UsageView view) {
        if (quotaRequest.preemptible()) {
            return Optional.empty();
        }
        Optional<Violation> first = Optional.empty();
        for (QuotaNode leaf : quotaRequest.leaves()) {
            Optional<Violation> here = nonPreemptibleOverReserved(quotaRequest, leaf, view);
            if (here.isEmpty()) {
                return here;
            }
            first = first.or(() -> here);
        }
        return first;
    }

    private static Optional<Violation> nonPreemptibleOverReserved(
            QuotaRequest quotaRequest, QuotaNode leaf, UsageView view) {
        if (leaf.tree().isOpen()) {
            return Optional.empty();
        }
        for (QuotaNode node : leaf.belowRoot()) {
            long used = node.nonPreemptible().at(view);
            long lasting = node.guaranteedGpuMilli(quotaRequest.runtimeMillis());
            if (used + quotaRequest.gpuMilli() > lasting) {
                return Optional.of(new Violation(Bound.NOT_PREEMPTIBLE, node, used, lasting));
            }
        }
        return Optional.empty();
    }

    private static Optional<Violation> overWhatIsLent(QuotaRequest quotaRequest, UsageView view) {
        for (QuotaNode leaf : quotaRequest.leaves()) {
            long heldBeside = 0;
            QuotaNode below = leaf;
            for (QuotaNode node = leaf.parent(); node != null; node = node.parent()) {
                heldBeside += node.tree().lendsAll() ? 0 : node.heldBackBeside(below);
                below = node;
                long used = node.used().at(view);
                long most = node.ceilingGpuMilli(view);
                if (node.isRoot() && used + quotaRequest.gpuMilli() > most) {
                    return Optional.of(new Violation(Bound.CAPACITY, node, used, most));
                }
                if (used + quotaRequest.gpuMilli() > most - heldBeside) {
                    return Optional.of(new Violation(Bound.HELD_FOR_OTHERS, node, used, most - heldBeside));
                }
            }
        }
        return Optional.empty();
    }
}
