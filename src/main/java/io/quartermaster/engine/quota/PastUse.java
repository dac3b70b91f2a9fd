package io.quartermaster.engine.quota;

import io.quartermaster.engine.Change;
import io.quartermaster.engine.QuotaPath;
import io.quartermaster.engine.Scope;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What each path held before, as a moving average that forgets half within the fairness window. Time passes only in
 * {@link #advance}; between two plans everybody holds what it held after the first.
 */
public final class PastUse {
    private static final long NANO_PER_MILLI = 1_000_000;
    private static final long NANO_PER_MICRO = 1_000;

    private final HalfLife halfLife;
    private final SortedMap<Scope, SortedMap<QuotaPath, Change.PastUseSet>> entries = new TreeMap<>();

    public PastUse(long windowMillis) {
        this.halfLife = new HalfLife(windowMillis);
    }

    /** Takes over what was worked out before. */
    public void set(Change.PastUseSet entry) {
        entries.computeIfAbsent(entry.scope(), scope -> new TreeMap<>()).put(entry.path(), entry);
    }

    /** All of it, to be stated again. */
    public List<Change.PastUseSet> all() {
        List<Change.PastUseSet> all = new ArrayList<>();
        entries.values().forEach(ofScope -> all.addAll(ofScope.values()));
        return all;
    }

    /** Brings every average up to a moment. */
    public void advance(long nowMillis) {
        for (SortedMap<QuotaPath, Change.PastUseSet> ofScope : entries.values()) {
            ofScope.replaceAll((path, entry) -> new Change.PastUseSet(
                    path,
                    entry.scope(),
                    halfLife.average(
                            entry.averageGpuNano(),
                            entry.heldGpuMilli() * NANO_PER_MILLI,
                            nowMillis - entry.asOfMillis()),
                    entry.heldGpuMilli(),
                    Math.max(nowMillis, entry.asOfMillis())));
        }
    }

    /** Notes what everybody holds from a moment on. */
    public void note(Collection<QuotaTree> trees, long nowMillis) {
        for (QuotaTree tree : trees) {
            SortedMap<QuotaPath, Change.PastUseSet> ofScope =
                    entries.computeIfAbsent(tree.scope(), scope -> new TreeMap<>());
            tree.forEachLeaf((path, leaf) -> {
                Change.PastUseSet before = ofScope.get(path);
                long average = before == null ? 0 : before.averageGpuNano();
                ofScope.put(
                        path,
                        new Change.PastUseSet(
                                path, tree.scope(), average, leaf.used().now(), nowMillis));
            });
            ofScope.values().removeIf(entry -> entry.averageGpuNano() == 0 && entry.heldGpuMilli() == 0);
        }
    }

    /** Tells a tree, before it is divided. */
    public void tell(QuotaTree tree) {
        SortedMap<QuotaPath, Change.PastUseSet> ofScope = entries.getOrDefault(tree.scope(), new TreeMap<>());
        tree.forEachLeaf((path, leaf) -> {
            Change.PastUseSet entry = ofScope.get(path);
            leaf.past(entry == null ? 0 : entry.averageGpuNano() / NANO_PER_MICRO);
        });
        tree.sumUpPast();
    }
}
