package io.quartermaster.engine.quota;

import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Scope;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The past use of each path, as a moving average whose half-life is the fairness window. Time passes only in
 * {@link #advance}; between two plans each path holds what it held after the first of them.
 */
public final class UsageHistory {
    private static final long NANO_PER_MILLI = 1_000_000;
    private static final long NANO_PER_MICRO = 1_000;

    private final ExponentialDecay exponentialDecay;
    private final long entryPenaltyMillis;
    private final SortedSet<QuotaPath> raised = new TreeSet<>();
    private final SortedMap<Scope, SortedMap<QuotaPath, Change.PastUseSet>> entries = new TreeMap<>();

    /** @param entryPenaltyMillis the time for which a start counts as if the work had already run */
    public UsageHistory(long windowMillis, long entryPenaltyMillis) {
        this.entryPenaltyMillis = entryPenaltyMillis;
        this.exponentialDecay = new ExponentialDecay(windowMillis);
    }

    /** Restores an average that was computed before. */
    public void set(Change.PastUseSet entry) {
        entries.computeIfAbsent(entry.scope(), scope -> new TreeMap<>()).put(entry.path(), entry);
    }

    /** All entries, as changes that restore this state. */
    public List<Change.PastUseSet> all() {
        List<Change.PastUseSet> all = new ArrayList<>();
        entries.values().forEach(ofScope -> all.addAll(ofScope.values()));
        return all;
    }

    /** Advances every average to a moment. */
    public void advance(long nowMillis) {
        raised.clear();
        for (SortedMap<QuotaPath, Change.PastUseSet> ofScope : entries.values()) {
            ofScope.replaceAll((path, entry) -> new Change.PastUseSet(
                    path,
                    entry.scope(),
                    exponentialDecay.average(
                            entry.averageGpuNano(),
                            entry.heldGpuMilli() * NANO_PER_MILLI,
                            nowMillis - entry.asOfMillis()),
                    entry.heldGpuMilli(),
                    Math.max(nowMillis, entry.asOfMillis())));
        }
    }

    /**
     * Counts a start after {@link #advance} was called for the same moment. The work immediately counts as if it had
     * already run for the entry penalty. The penalty decays like all other past use, however soon the work ends.
     */
    public void start(QuotaPath path, List<QuotaNode> leaves, long gpuMilli, long nowMillis) {
        long penaltyGpuNano = exponentialDecay.average(0, gpuMilli * NANO_PER_MILLI, entryPenaltyMillis);
        for (QuotaNode leaf : penaltyGpuNano > 0 ? leaves : List.<QuotaNode>of()) {
            Scope scope = leaf.tree().scope();
            SortedMap<QuotaPath, Change.PastUseSet> ofScope = entries.computeIfAbsent(scope, key -> new TreeMap<>());
            Change.PastUseSet before = ofScope.getOrDefault(path, new Change.PastUseSet(path, scope, 0, 0, nowMillis));
            ofScope.put(
                    path,
                    new Change.PastUseSet(
                            path, scope, before.averageGpuNano() + penaltyGpuNano, before.heldGpuMilli(), nowMillis));
            leaf.addPast(penaltyGpuNano / NANO_PER_MICRO);
            raised.add(path);
        }
    }

    /** The paths to which entry penalties have been added since the last {@link #advance}. */
    public SortedSet<QuotaPath> raised() {
        return Collections.unmodifiableSortedSet(raised);
    }

    /** Clears the paths of {@link #raised}, because the last plan has added no entry penalty. */
    public void forgetRaised() {
        raised.clear();
    }

    /** Records what each path holds from a moment on. */
    public void update(Collection<QuotaTree> trees, long nowMillis) {
        for (QuotaTree tree : trees) {
            SortedMap<QuotaPath, Change.PastUseSet> ofScope =
                    entries.computeIfAbsent(tree.scope(), scope -> new TreeMap<>());
            tree.forEachLeaf((path, leaf) -> {
                Change.PastUseSet before = ofScope.get(path);
                long average = before == null ? 0 : before.averageGpuNano();
                ofScope.put(
                        path,
                        new Change.PastUseSet(
                                path, tree.scope(), average, leaf.used().current(), nowMillis));
            });
            ofScope.values().removeIf(entry -> entry.averageGpuNano() == 0 && entry.heldGpuMilli() == 0);
        }
    }

    /** Updates the past use in a tree, before it is divided. */
    public void publish(QuotaTree tree) {
        SortedMap<QuotaPath, Change.PastUseSet> ofScope = entries.getOrDefault(tree.scope(), new TreeMap<>());
        tree.forEachLeaf((path, leaf) -> {
            Change.PastUseSet entry = ofScope.get(path);
            leaf.setPastGpuMicro(entry == null ? 0 : entry.averageGpuNano() / NANO_PER_MICRO);
        });
        tree.sumUpPast();
    }
}
