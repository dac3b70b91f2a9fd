package io.quartermaster.engine.quota;

import java.util.Optional;
import java.util.function.ToLongFunction;

/**
 * The bounds that the quota trees set to a start, whatever the devices say. Limits hold in every tree; bounds by what
 * is reserved hold where no tree says that the start is within its reservation.
 */
public final class Admission {

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
    public record Hit(Bound bound, QuotaNode node, Optional<Ceiling> ceiling, long usedGpuMilli, long boundGpuMilli) {

        Hit(Bound bound, QuotaNode node, long usedGpuMilli, long boundGpuMilli) {
            this(bound, node, Optional.empty(), usedGpuMilli, boundGpuMilli);
        }
    }

    private Admission() {}

    /** The first bound in the way of starting at once: neither what is held nor what is promised may pass it. */
    public static Optional<Hit> atOnce(Ask ask) {
        Optional<Hit> hit = later(ask);
        return hit.isPresent() ? hit : check(ask, When.NOW);
    }

    /** Of the bounds in the way of starting at once the first in their order, of what is held and of what is promised. */
    public static Optional<Hit> firstAtOnce(Ask ask) {
        Optional<Hit> promised = later(ask);
        Optional<Hit> held = check(ask, When.NOW);
        boolean heldFirst = promised.isEmpty()
                || held.isPresent()
                        && held.get().bound().compareTo(promised.get().bound()) < 0;
        return heldFirst ? held : promised;
    }

    /** The first bound in the way of starting once all who were told to stop have left. */
    public static Optional<Hit> later(Ask ask) {
        return check(ask, When.NEXT);
    }

    /** The first bound in the way if nothing had been promised to anybody. */
    public static Optional<Hit> ignoringPromises(Ask ask) {
        return check(ask, When.NOW);
    }

    /**
     * Like {@link #atOnce}, but leaving aside whether there is as much at all: only what work of the same tenant uses
     * can change it, unless somebody keeps something idle for himself.
     */
    public static Optional<Hit> ofTenantAtOnce(Ask ask) {
        Optional<Hit> hit = ofTenantLater(ask);
        return hit.isPresent() ? hit : ofTenant(ask, When.NOW);
    }

    /** Like {@link #later}, in the same way. */
    public static Optional<Hit> ofTenantLater(Ask ask) {
        return ofTenant(ask, When.NEXT);
    }

    /**
     * The limit in the way of something promised. What was within the reservation when it was promised stays promised,
     * whoever borrows beside it since.
     */
    public static Optional<Hit> ofPromised(Ask ask, When when) {
        Optional<Hit> hit = unnamed(ask, when);
        return hit.isPresent() ? hit : overLimit(ask, when);
    }

    /**
     * Whether the bounds of its own path leave no room for it even if nobody else used anything, now and at all turns of the
     * calendar that are known.
     */
    public static boolean isBeyondAllBounds(Ask ask) {
        boolean reserved = false;
        boolean open = false;
        for (QuotaNode leaf : ask.leaves()) {
            open |= leaf.tree().isOpen();
            boolean here = true;
            for (QuotaNode node : leaf.belowRoot()) {
                here &= ask.gpuMilli() <= node.mostReservedGpuMilli();
            }
            reserved |= here;
        }
        if (!ask.leaves().getFirst().named() || !ask.preemptible() && !reserved && !open) {
            return true;
        }
        for (QuotaNode node : ask.path()) {
            boolean bounded =
                    !node.overQuota() || (ask.dedicatedOnly() && !node.tree().isOpen());
            boolean beyondReserved = bounded && ask.gpuMilli() > node.mostReservedGpuMilli() && !reserved;
            boolean beyondLimit = ask.gpuMilli() > node.mostGpuMilli()
                    && node.fitsFromMillis(ask.gpuMilli()).isEmpty();
            if (beyondReserved || beyondLimit) {
                return true;
            }
        }
        for (Ceiling ceiling : ask.ceilings()) {
            if (ceiling.countOf(ask.gpuMilli(), ask.whole()) > ceiling.most()) {
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
    public static boolean isBeyondWhatIsLent(Ask ask, ToLongFunction<QuotaTree> capacity) {
        for (QuotaNode leaf : ask.leaves()) {
            long dedicatedBeside = 0;
            QuotaNode below = leaf;
            for (QuotaNode node = leaf.parent(); node != null; node = node.parent()) {
                dedicatedBeside += node.dedicatedBeside(below);
                below = node;
                long most = node.isRoot() ? capacity.applyAsLong(node.tree()) : node.mostEverGpuMilli();
                if (ask.gpuMilli() > most - dedicatedBeside) {
                    return true;
                }
            }
        }
        return false;
    }

    private static Optional<Hit> check(Ask ask, When when) {
        Optional<Hit> hit = onItsPath(ask, when);
        return hit.isPresent() ? hit : overWhatIsLent(ask, when);
    }

    private static Optional<Hit> ofTenant(Ask ask, When when) {
        Optional<Hit> hit = onItsPath(ask, when);
        boolean mayBeHeld = false;
        for (QuotaNode leaf : ask.leaves()) {
            mayBeHeld |= !leaf.tree().lendsAll();
        }
        return hit.isPresent() || !mayBeHeld ? hit : overWhatIsLent(ask, when);
    }

    private static Optional<Hit> onItsPath(Ask ask, When when) {
        Optional<Hit> hit = unnamed(ask, when);
        hit = hit.isPresent() ? hit : overLimit(ask, when);
        hit = hit.isPresent() ? hit : overReserved(ask, when);
        return hit.isPresent() ? hit : nonPreemptibleOverReserved(ask, when);
    }

    private static Optional<Hit> unnamed(Ask ask, When when) {
        QuotaNode leaf = ask.leaves().getFirst();
        return leaf.named()
                ? Optional.empty()
                : Optional.of(new Hit(Bound.UNNAMED, leaf, leaf.used().at(when), 0));
    }

    private static Optional<Hit> overLimit(Ask ask, When when) {
        for (QuotaNode node : ask.path()) {
            long used = node.used().at(when);
            long limit = node.mostGpuMilli();
            if (used + ask.gpuMilli() > limit) {
                return Optional.of(new Hit(Bound.LIMIT, node, used, limit));
            }
        }
        return overCeiling(ask, when);
    }

    private static Optional<Hit> overCeiling(Ask ask, When when) {
        for (Ceiling ceiling : ask.ceilings()) {
            long used = ceiling.used().at(when);
            long more = ceiling.countOf(ask.gpuMilli(), ask.whole());
            if (more > 0 && used + more > ceiling.most()) {
                Bound bound = ceiling.user().isPresent() ? Bound.USER_CAP : Bound.WORKLOAD_CAP;
                return Optional.of(new Hit(bound, ask.leaves().getFirst(), Optional.of(ceiling), used, ceiling.most()));
            }
        }
        return Optional.empty();
    }

    private static Optional<Hit> overReserved(Ask ask, When when) {
        for (QuotaNode node : ask.path()) {
            long used = node.used().at(when);
            boolean bounded =
                    !node.overQuota() || (ask.dedicatedOnly() && !node.tree().isOpen());
            if (bounded && used + ask.gpuMilli() > node.reservedGpuMilli() && !ask.withinReserved()) {
                return Optional.of(new Hit(Bound.OVER_QUOTA_OFF, node, used, node.reservedGpuMilli()));
            }
        }
        return Optional.empty();
    }

    private static Optional<Hit> nonPreemptibleOverReserved(Ask ask, When when) {
        if (ask.preemptible()) {
            return Optional.empty();
        }
        Optional<Hit> first = Optional.empty();
        for (QuotaNode leaf : ask.leaves()) {
            Optional<Hit> here = nonPreemptibleOverReserved(ask, leaf, when);
            if (here.isEmpty()) {
                return here;
            }
            first = first.or(() -> here);
        }
        return first;
    }

    private static Optional<Hit> nonPreemptibleOverReserved(Ask ask, QuotaNode leaf, When when) {
        if (leaf.tree().isOpen()) {
            return Optional.empty();
        }
        for (QuotaNode node : leaf.belowRoot()) {
            long used = node.nonPreemptible().at(when);
            long lasting = node.lastingGpuMilli(ask.runtimeMillis());
            if (used + ask.gpuMilli() > lasting) {
                return Optional.of(new Hit(Bound.NOT_PREEMPTIBLE, node, used, lasting));
            }
        }
        return Optional.empty();
    }

    private static Optional<Hit> overWhatIsLent(Ask ask, When when) {
        for (QuotaNode leaf : ask.leaves()) {
            long heldBeside = 0;
            QuotaNode below = leaf;
            for (QuotaNode node = leaf.parent(); node != null; node = node.parent()) {
                heldBeside += node.tree().lendsAll() ? 0 : node.heldBackBeside(below);
                below = node;
                long used = node.used().at(when);
                long most = node.mostGpuMilli();
                if (node.isRoot() && used + ask.gpuMilli() > most) {
                    return Optional.of(new Hit(Bound.CAPACITY, node, used, most));
                }
                if (used + ask.gpuMilli() > most - heldBeside) {
                    return Optional.of(new Hit(Bound.HELD_FOR_OTHERS, node, used, most - heldBeside));
                }
            }
        }
        return Optional.empty();
    }
}
