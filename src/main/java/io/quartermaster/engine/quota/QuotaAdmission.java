package io.quartermaster.engine.quota;

import java.util.Optional;
import java.util.function.ToLongFunction;

/**
 * The bounds that the quota trees set to a start, whatever the devices say. Limits hold in every tree; bounds by what
 * is reserved hold where no tree says that the start is within its reservation.
 */
public final class QuotaAdmission {

    /** Which bound is in the way. */
    public enum Bound {
        /** No quota names the path here. */
        UNNAMED,
        LIMIT,
        /** What one user may hold. */
        USER_CAP,
        /** How many workloads may run. */
        WORKLOAD_CAP,
        OVER_QUOTA_OFF,
        NOT_PREEMPTIBLE,
        /** Only by using what others keep idle for themselves. */
        HELD_FOR_OTHERS,
        /** More than there is. */
        CAPACITY
    }

    /**
     * A bound that would be passed.
     *
     * @param node whose bound it is; of a ceiling, where the request would count
     * @param ceiling the bound, where it is one beside the trees
     * @param usedGpuMilli what counts against the bound already; of a cap on workloads, their number
     */
    public record Violation(Bound bound, QuotaNode node, Optional<Cap> cap, long usedGpuMilli, long boundGpuMilli) {

        Violation(Bound bound, QuotaNode node, long usedGpuMilli, long boundGpuMilli) {
            this(bound, node, Optional.empty(), usedGpuMilli, boundGpuMilli);
        }
    }

    private QuotaAdmission() {}

    /** The first bound in the way of starting at once: neither what is held nor what is promised may pass it. */
    public static Optional<Violation> current(QuotaRequest quotaRequest) {
        Optional<Violation> violation = projected(quotaRequest);
        return violation.isPresent() ? violation : check(quotaRequest, View.CURRENT);
    }

    /** Of the bounds in the way of starting at once the first in their order, of what is held and of what is promised. */
    public static Optional<Violation> firstCurrent(QuotaRequest quotaRequest) {
        Optional<Violation> promised = projected(quotaRequest);
        Optional<Violation> held = check(quotaRequest, View.CURRENT);
        boolean heldFirst = promised.isEmpty()
                || held.isPresent()
                        && held.get().bound().compareTo(promised.get().bound()) < 0;
        return heldFirst ? held : promised;
    }

    /** The first bound in the way of starting once all who were told to stop have left. */
    public static Optional<Violation> projected(QuotaRequest quotaRequest) {
        return check(quotaRequest, View.PROJECTED);
    }

    /** The first bound in the way if nothing had been promised to anybody. */
    public static Optional<Violation> ignoringNominations(QuotaRequest quotaRequest) {
        return check(quotaRequest, View.CURRENT);
    }

    /**
     * Like {@link #current}, but leaving aside whether there is as much at all: only what work of the same tenant uses
     * can change it, unless somebody keeps something idle for himself.
     */
    public static Optional<Violation> ofTenantCurrent(QuotaRequest quotaRequest) {
        Optional<Violation> violation = ofTenantProjected(quotaRequest);
        return violation.isPresent() ? violation : ofTenant(quotaRequest, View.CURRENT);
    }

    /** Like {@link #projected}, in the same way. */
    public static Optional<Violation> ofTenantProjected(QuotaRequest quotaRequest) {
        return ofTenant(quotaRequest, View.PROJECTED);
    }

    /**
     * The limit in the way of something promised. What was within the reservation when it was promised stays promised,
     * whoever borrows beside it since.
     */
    public static Optional<Violation> forNominated(QuotaRequest quotaRequest, View view) {
        Optional<Violation> violation = unnamed(quotaRequest, view);
        return violation.isPresent() ? violation : overLimit(quotaRequest, view);
    }

    /**
     * Whether the bounds of its own path leave no room for it even if nobody else used anything, now and at all turns of the
     * calendar that are known.
     */
    public static boolean isBeyondAllBounds(QuotaRequest quotaRequest) {
        boolean reserved = false;
        boolean open = false;
        for (QuotaNode leaf : quotaRequest.leaves()) {
            open |= leaf.tree().isOpen();
            boolean here = true;
            for (QuotaNode node : leaf.belowRoot()) {
                here &= quotaRequest.gpuMilli() <= node.mostReservedGpuMilli();
            }
            reserved |= here;
        }
        if (!quotaRequest.leaves().getFirst().named() || !quotaRequest.preemptible() && !reserved && !open) {
            return true;
        }
        for (QuotaNode node : quotaRequest.path()) {
            boolean bounded = !node.overQuota()
                    || (quotaRequest.dedicatedOnly() && !node.tree().isOpen());
            boolean beyondReserved = bounded && quotaRequest.gpuMilli() > node.mostReservedGpuMilli() && !reserved;
            boolean beyondLimit = quotaRequest.gpuMilli() > node.mostGpuMilli()
                    && node.fitsFromMillis(quotaRequest.gpuMilli()).isEmpty();
            if (beyondReserved || beyondLimit) {
                return true;
            }
        }
        for (Cap cap : quotaRequest.caps()) {
            if (cap.countOf(quotaRequest.gpuMilli(), quotaRequest.whole()) > cap.most()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Whether what others never lend leaves no room for it even if nobody used anything, now and at all turns of the calendar that are
     * known.
     *
     * @param capacity what there is at most for a tree
     */
    public static boolean isBeyondWhatIsLent(QuotaRequest quotaRequest, ToLongFunction<QuotaTree> capacity) {
        for (QuotaNode leaf : quotaRequest.leaves()) {
            long dedicatedBeside = 0;
            QuotaNode below = leaf;
            for (QuotaNode node = leaf.parent(); node != null; node = node.parent()) {
                dedicatedBeside += node.dedicatedBeside(below);
                below = node;
                long most = node.isRoot() ? capacity.applyAsLong(node.tree()) : node.maxEverGpuMilli();
                if (quotaRequest.gpuMilli() > most - dedicatedBeside) {
                    return true;
                }
            }
        }
        return false;
    }

    private static Optional<Violation> check(QuotaRequest quotaRequest, View view) {
        Optional<Violation> violation = onItsPath(quotaRequest, view);
        return violation.isPresent() ? violation : overWhatIsLent(quotaRequest, view);
    }

    private static Optional<Violation> ofTenant(QuotaRequest quotaRequest, View view) {
        Optional<Violation> violation = onItsPath(quotaRequest, view);
        boolean mayBeHeld = false;
        for (QuotaNode leaf : quotaRequest.leaves()) {
            mayBeHeld |= !leaf.tree().lendsAll();
        }
        return violation.isPresent() || !mayBeHeld ? violation : overWhatIsLent(quotaRequest, view);
    }

    private static Optional<Violation> onItsPath(QuotaRequest quotaRequest, View view) {
        Optional<Violation> violation = unnamed(quotaRequest, view);
        violation = violation.isPresent() ? violation : overLimit(quotaRequest, view);
        violation = violation.isPresent() ? violation : overReserved(quotaRequest, view);
        return violation.isPresent() ? violation : nonPreemptibleOverReserved(quotaRequest, view);
    }

    private static Optional<Violation> unnamed(QuotaRequest quotaRequest, View view) {
        QuotaNode leaf = quotaRequest.leaves().getFirst();
        return leaf.named()
                ? Optional.empty()
                : Optional.of(new Violation(Bound.UNNAMED, leaf, leaf.used().at(view), 0));
    }

    private static Optional<Violation> overLimit(QuotaRequest quotaRequest, View view) {
        for (QuotaNode node : quotaRequest.path()) {
            long used = node.used().at(view);
            long limit = node.mostGpuMilli();
            if (used + quotaRequest.gpuMilli() > limit) {
                return Optional.of(new Violation(Bound.LIMIT, node, used, limit));
            }
        }
        return overCap(quotaRequest, view);
    }

    private static Optional<Violation> overCap(QuotaRequest quotaRequest, View view) {
        for (Cap cap : quotaRequest.caps()) {
            long used = cap.used().at(view);
            long more = cap.countOf(quotaRequest.gpuMilli(), quotaRequest.whole());
            if (more > 0 && used + more > cap.most()) {
                Bound bound = cap.user().isPresent() ? Bound.USER_CAP : Bound.WORKLOAD_CAP;
                return Optional.of(
                        new Violation(bound, quotaRequest.leaves().getFirst(), Optional.of(cap), used, cap.most()));
            }
        }
        return Optional.empty();
    }

    private static Optional<Violation> overReserved(QuotaRequest quotaRequest, View view) {
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

    private static Optional<Violation> nonPreemptibleOverReserved(QuotaRequest quotaRequest, View view) {
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
            QuotaRequest quotaRequest, QuotaNode leaf, View view) {
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

    private static Optional<Violation> overWhatIsLent(QuotaRequest quotaRequest, View view) {
        for (QuotaNode leaf : quotaRequest.leaves()) {
            long heldBeside = 0;
            QuotaNode below = leaf;
            for (QuotaNode node = leaf.parent(); node != null; node = node.parent()) {
                heldBeside += node.tree().lendsAll() ? 0 : node.heldBackBeside(below);
                below = node;
                long used = node.used().at(view);
                long most = node.mostGpuMilli();
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
