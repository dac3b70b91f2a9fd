package io.quartermaster.engine.quota;

import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Scope;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What is left of each budget. Time passes only in {@link #advance}; between two plans everybody holds what it held after the first.
 */
public final class Budgets {
    private final SortedMap<Scope, SortedMap<QuotaPath, Change.BudgetSet>> entries = new TreeMap<>();

    public boolean isEmpty() {
        return entries.isEmpty();
    }

    /** Returns whether it was news. */
    public boolean set(Change.BudgetSet entry) {
        return !entry.equals(
                entries.computeIfAbsent(entry.scope(), scope -> new TreeMap<>()).put(entry.path(), entry));
    }

    /** Returns whether it was news. */
    public boolean remove(QuotaPath path, Scope scope) {
        SortedMap<QuotaPath, Change.BudgetSet> ofScope = entries.getOrDefault(scope, new TreeMap<>());
        boolean news = ofScope.remove(path) != null;
        if (ofScope.isEmpty()) {
            entries.remove(scope);
        }
        return news;
    }

    /** All of them, to be stated again. */
    public List<Change.BudgetSet> all() {
        List<Change.BudgetSet> all = new ArrayList<>();
        entries.values().forEach(ofScope -> all.addAll(ofScope.values()));
        return all;
    }

    /** One for each of them, with nothing counted against it yet. */
    public List<BudgetMeter> meters() {
        return all().stream()
                .map(entry -> new BudgetMeter(entry.path(), entry.scope(), entry.graceMillis()))
                .toList();
    }

    /** Brings what is left up to a moment. */
    public void advance(long nowMillis) {
        for (SortedMap<QuotaPath, Change.BudgetSet> ofScope : entries.values()) {
            ofScope.replaceAll((path, entry) -> {
                long elapsed = Math.max(0, nowMillis - entry.asOfMillis());
                return at(
                        entry,
                        entry.leftGpuMilliMillis() - entry.heldGpuMilli() * elapsed,
                        entry.heldGpuMilli(),
                        Math.max(nowMillis, entry.asOfMillis()));
            });
        }
    }

    private static Change.BudgetSet at(Change.BudgetSet entry, long left, long heldGpuMilli, long asOfMillis) {
        return new Change.BudgetSet(entry.path(), entry.scope(), left, heldGpuMilli, asOfMillis, entry.graceMillis());
    }

    /** Tells meters what is left, before a plan is made. */
    public void publish(Collection<BudgetMeter> budgetMeters) {
        budgetMeters.forEach(budgetMeter -> budgetMeter.left(entry(budgetMeter).leftGpuMilliMillis()));
    }

    /** What is left is set aside for the grace of those who are told to stop: nothing starts until the budget is stated anew. */
    public void useUp(BudgetMeter budgetMeter) {
        Change.BudgetSet entry = entry(budgetMeter);
        put(at(entry, Math.min(0, entry.leftGpuMilliMillis()), entry.heldGpuMilli(), entry.asOfMillis()));
        budgetMeter.left(0);
    }

    /** Notes what everybody holds from the last plan on. */
    public void update(Collection<BudgetMeter> budgetMeters) {
        for (BudgetMeter budgetMeter : budgetMeters) {
            Change.BudgetSet entry = entry(budgetMeter);
            put(at(entry, entry.leftGpuMilliMillis(), budgetMeter.used().current(), entry.asOfMillis()));
        }
    }

    private void put(Change.BudgetSet entry) {
        entries.computeIfAbsent(entry.scope(), scope -> new TreeMap<>()).put(entry.path(), entry);
    }

    private Change.BudgetSet entry(BudgetMeter budgetMeter) {
        Change.BudgetSet entry =
                entries.getOrDefault(budgetMeter.scope(), new TreeMap<>()).get(budgetMeter.path());
        if (entry == null) {
            throw new IllegalStateException("no budget of " + budgetMeter.path());
        }
        return entry;
    }
}
