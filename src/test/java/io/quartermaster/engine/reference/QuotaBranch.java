package io.quartermaster.engine.reference;

import io.quartermaster.engine.model.QuotaPath;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** A node n of a quota tree with its R, L, w, and, fixed for a plan, D and F. Its U is counted from the holdings. */
final class QuotaBranch {
    static final long NO_LIMIT = Long.MAX_VALUE;

    final Tree tree;
    final @Nullable QuotaBranch parent;
    final QuotaPath path;
    final Terms terms;

    /** In the order of their paths; a node's own work comes first. */
    final List<QuotaBranch> children = new ArrayList<>();

    long weight;
    long demand;
    long fair;

    /** U at the begin of the plan, for the ties of the division. */
    long usedAtFirst;

    /**
     * The terms of a quota, with the defaults filled in.
     *
     * @param named whether a quota names this exact path; nothing may start under a path that no quota names
     */
    record Terms(
            long reserved,
            long limit,
            OptionalLong weight,
            long lendable,
            int rank,
            boolean overQuota,
            long sequence,
            boolean fence,
            boolean named) {}

    QuotaBranch(Tree tree, @Nullable QuotaBranch parent, QuotaPath path, Terms terms) {
        this.tree = tree;
        this.parent = parent;
        this.path = path;
        this.terms = terms;
    }

    /** The node above this one, which is not the root. */
    QuotaBranch above() {
        return Objects.requireNonNull(parent);
    }

    boolean isRoot() {
        return parent == null;
    }

    /** U: the use in the pools of the tree at the leaves under this node. */
    long used(Holdings holdings, Moment.View view) {
        return holdings.used(view, this::counts);
    }

    /** U once all evicted work has left: the measure of the order, of the rights and of the choice of victims. */
    long used(Holdings holdings) {
        return used(holdings, Moment.View.PROJECTED);
    }

    long usedNonPreemptible(Holdings holdings, Moment.View view) {
        return holdings.used(view, entry -> !entry.preemptible() && counts(entry));
    }

    private boolean counts(Holdings.Entry entry) {
        return !entry.kept() && tree.counts(entry.pool()) && covers(tree.leaf(entry.path()));
    }

    /** The most that the node may use: L, or max(R, F). */
    long entitled() {
        return Math.max(terms.reserved, fair);
    }

    /** max(0, R - lendable - U), or what its children hold together, if that is more. */
    long heldBack(Holdings holdings) {
        long below = 0;
        for (QuotaBranch child : children) {
            below += child.heldBack(holdings);
        }
        return Math.max(below, terms.reserved - terms.lendable - used(holdings));
    }

    boolean covers(QuotaBranch node) {
        for (QuotaBranch above = node; above != null; above = above.parent) {
            if (above == this) {
                return true;
            }
        }
        return false;
    }

    /** This node and the nodes above it, without the root. */
    List<QuotaBranch> upToTenant() {
        List<QuotaBranch> nodes = new ArrayList<>();
        for (QuotaBranch node = this; node.parent != null; node = node.parent) {
            nodes.add(node);
        }
        return nodes;
    }

    /**
     * Divides F among the children. Each first gets min(R, D). The rest goes to those with unmet demand, lowest rank
     * first, and within a rank by weight.
     */
    void divide() {
        long left = fair;
        for (QuotaBranch child : children) {
            child.fair = Math.min(child.terms.reserved, child.demand);
            left -= child.fair;
        }
        List<Integer> ranks = children.stream()
                .map(child -> child.terms.rank)
                .distinct()
                .sorted()
                .toList();
        for (int rank : ranks) {
            left = divideByWeight(
                    Math.max(0, left),
                    children.stream()
                            .filter(child -> child.terms.rank == rank && child.weight > 0 && child.unmet() > 0)
                            .toList());
        }
        children.forEach(QuotaBranch::divide);
    }

    private long unmet() {
        return demand - fair;
    }

    /**
     * Each child gets its part in whole GPUs, or less if it wants less. The division is repeated as long as a child
     * wanted less. The last units go one each by largest remainder, capped by D. Ties go to the child that holds more
     * beyond R now, then to the child that existed first, then by path.
     */
    private long divideByWeight(long total, List<QuotaBranch> claimants) {
        long left = total;
        List<Remainder> remainders = List.of();
        boolean someoneWantedLess = true;
        while (someoneWantedLess && left > 0) {
            someoneWantedLess = false;
            List<QuotaBranch> open =
                    claimants.stream().filter(child -> child.unmet() > 0).toList();
            long toDivide = left;
            long weights = open.stream().mapToLong(child -> child.weight).sum();
            remainders = new ArrayList<>();
            for (QuotaBranch child : open) {
                // The part is exact in units of 1 / weights.
                long part = toDivide * child.weight;
                long unmet = child.unmet() * weights;
                if (unmet <= part) {
                    someoneWantedLess |= unmet < part;
                    left -= child.give(child.unmet());
                } else {
                    long whole = part / (weights * 1000) * 1000;
                    left -= child.give(whole);
                    remainders.add(new Remainder(child, part - whole * weights));
                }
            }
        }
        remainders = new ArrayList<>(remainders);
        remainders.sort(Comparator.comparingLong((Remainder remainder) -> -remainder.amount)
                .thenComparingLong(
                        remainder -> -Math.max(0, remainder.child.usedAtFirst - remainder.child.terms.reserved))
                .thenComparingLong(remainder -> remainder.child.terms.sequence)
                .thenComparing(remainder -> remainder.child.path));
        for (Remainder remainder : remainders) {
            left -= remainder.child.give(Math.min(Math.min(1000, left), remainder.child.unmet()));
        }
        return left;
    }

    private record Remainder(QuotaBranch child, long amount) {}

    private long give(long amount) {
        fair += amount;
        return amount;
    }
}
