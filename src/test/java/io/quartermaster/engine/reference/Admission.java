package io.quartermaster.engine.reference;

import io.quartermaster.engine.model.ConcurrencyCaps;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Reason;
import io.quartermaster.engine.model.WorkloadId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;

/** Quota admission: the bounds that the trees set for a start, whatever devices are free. */
final class Admission {
    private final SortedMap<QuotaPath, ConcurrencyCaps> caps;

    Admission(SortedMap<QuotaPath, ConcurrencyCaps> caps) {
        this.caps = caps;
    }

    /**
     * A request to the trees.
     *
     * @param leaves the leaves at which it counts: in the pool's tree, then in the tree over all pools
     * @param whole whether a whole workload starts; otherwise a running one grows
     */
    record Request(
            WorkloadId workload,
            QuotaPath path,
            Optional<String> user,
            List<QuotaBranch> leaves,
            long gpuMilli,
            boolean whole,
            boolean preemptible,
            boolean dedicatedOnly) {
        Request with(long other) {
            return new Request(workload, path, user, leaves, other, whole, preemptible, dedicatedOnly);
        }

        List<QuotaBranch> nodes() {
            List<QuotaBranch> nodes = new ArrayList<>();
            leaves.forEach(leaf -> nodes.addAll(leaf.upToTenant()));
            return nodes;
        }

        /** Whether one of the trees says that the start keeps its whole path within R. */
        boolean withinReserved(Holdings holdings) {
            return leaves.stream().anyMatch(leaf -> leaf.upToTenant().stream()
                    .allMatch(node -> node.used(holdings) + gpuMilli <= node.terms.reserved()));
        }
    }

    /** A bound, in the order in which reasons name them; after UNNAMED, as in the table of reasons. */
    enum Bound {
        UNNAMED(Reason.Code.LIMIT),
        LIMIT(Reason.Code.LIMIT),
        USER_CAP(Reason.Code.LIMIT),
        WORKLOAD_CAP(Reason.Code.LIMIT),
        OVER_QUOTA_OFF(Reason.Code.OVER_QUOTA_OFF),
        NOT_PREEMPTIBLE(Reason.Code.NOT_PREEMPTIBLE),
        HELD_FOR_OTHERS(Reason.Code.HELD_FOR_OTHERS),
        CAPACITY(Reason.Code.NO_CAPACITY);

        final Reason.Code code;

        Bound(Reason.Code code) {
            this.code = code;
        }

        boolean isCap() {
            return this == USER_CAP || this == WORKLOAD_CAP;
        }
    }

    /** The bound that prevents a start now; it must hold in both views. */
    Optional<Bound> now(Request request, Holdings holdings) {
        return later(request, holdings).or(() -> ignoringNominations(request, holdings));
    }

    /** The bound that a reason names: the first of both views. */
    Optional<Bound> firstNow(Request request, Holdings holdings) {
        Optional<Bound> later = later(request, holdings);
        Optional<Bound> now = ignoringNominations(request, holdings);
        return later.isPresent() && (now.isEmpty() || later.get().compareTo(now.get()) <= 0) ? later : now;
    }

    Optional<Bound> later(Request request, Holdings holdings) {
        return check(request, holdings, Moment.View.PROJECTED);
    }

    Optional<Bound> ignoringNominations(Request request, Holdings holdings) {
        return check(request, holdings, Moment.View.CURRENT);
    }

    private Optional<Bound> check(Request request, Holdings holdings, Moment.View view) {
        return limit(request, holdings, view)
                .or(() -> overReserved(request, holdings, view))
                .or(() -> nonPreemptibleOverReserved(request, holdings, view))
                .or(() -> lent(request, holdings, view));
    }

    /** U + request <= L, and the caps. Only this bounds a nominated start: the rest was checked before (ADR 13). */
    Optional<Bound> limit(Request request, Holdings holdings, Moment.View view) {
        if (!request.leaves.getFirst().terms.named()) {
            return Optional.of(Bound.UNNAMED);
        }
        for (QuotaBranch node : request.nodes()) {
            if (node.used(holdings, view) + request.gpuMilli > node.terms.limit()) {
                return Optional.of(Bound.LIMIT);
            }
        }
        return cap(request, holdings, view);
    }

    private Optional<Bound> cap(Request request, Holdings holdings, Moment.View view) {
        for (QuotaPath prefix : request.path.fromTenant()) {
            ConcurrencyCaps cap = caps.get(prefix);
            if (cap != null && cap.perUserGpuMilli().isPresent() && request.user.isPresent()) {
                long used = holdings.used(
                        view,
                        entry -> !entry.kept()
                                && prefix.covers(entry.path())
                                && entry.user().equals(request.user));
                if (request.gpuMilli > 0
                        && used + request.gpuMilli > cap.perUserGpuMilli().getAsLong()) {
                    return Optional.of(Bound.USER_CAP);
                }
            }
            if (cap != null && cap.running().isPresent() && request.whole) {
                long running = holdings.entries().stream()
                        .filter(entry -> entry.in(view) && !entry.kept() && prefix.covers(entry.path()))
                        .map(Holdings.Entry::workload)
                        .distinct()
                        .count();
                if (running + 1 > cap.running().getAsInt()) {
                    return Optional.of(Bound.WORKLOAD_CAP);
                }
            }
        }
        return Optional.empty();
    }

    /** Over-quota off, or dedicated-only: U + request <= R, unless one of the trees finds the start within R. */
    private static Optional<Bound> overReserved(Request request, Holdings holdings, Moment.View view) {
        for (QuotaBranch node : request.nodes()) {
            boolean bounded = !node.terms.overQuota() || request.dedicatedOnly && !node.tree.open;
            if (bounded
                    && node.used(holdings, view) + request.gpuMilli > node.terms.reserved()
                    && !request.withinReserved(holdings)) {
                return Optional.of(Bound.OVER_QUOTA_OFF);
            }
        }
        return Optional.empty();
    }

    /** U(non-preemptible) + request <= R at every node of the path, in one of the trees. */
    private static Optional<Bound> nonPreemptibleOverReserved(Request request, Holdings holdings, Moment.View view) {
        boolean permitted = request.preemptible
                || request.leaves.stream()
                        .anyMatch(leaf -> leaf.tree.open
                                || leaf.upToTenant().stream()
                                        .allMatch(node -> node.usedNonPreemptible(holdings, view) + request.gpuMilli
                                                <= node.terms.reserved()));
        return permitted ? Optional.empty() : Optional.of(Bound.NOT_PREEMPTIBLE);
    }

    /** U + request + what is held below the node beside the path <= L, at every node above the leaf and at the root. */
    private static Optional<Bound> lent(Request request, Holdings holdings, Moment.View view) {
        for (QuotaBranch leaf : request.leaves) {
            long heldBeside = 0;
            QuotaBranch below = leaf;
            for (QuotaBranch node = leaf.parent; node != null; node = node.parent) {
                for (QuotaBranch child : node.children) {
                    heldBeside += child == below ? 0 : child.heldBack(holdings);
                }
                below = node;
                long needed = node.used(holdings, view) + request.gpuMilli;
                long most = node.isRoot() ? node.tree.capacity(holdings, view) : node.terms.limit();
                if (node.isRoot() && needed > most) {
                    return Optional.of(Bound.CAPACITY);
                }
                if (needed > most - heldBeside) {
                    return Optional.of(Bound.HELD_FOR_OTHERS);
                }
            }
        }
        return Optional.empty();
    }
}
