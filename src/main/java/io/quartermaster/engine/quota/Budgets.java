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
 * The remaining amount of each budget. Time passes only in {@link #advance}; between two plans each path holds what it
 * held after the first of them.
 */
public final class Budgets {
    private final SortedMap<Scope, SortedMap<QuotaPath, Change.BudgetSet>> entries = new TreeMap<>();

    public boolean isEmpty() {
        return entries.isEmpty();
    }

    /** Returns whether the entry changed. */
    public boolean set(Change.BudgetSet entry) {
        return !entry.equals(
                entries.computeIfAbsent(entry.scope(), scope -> new TreeMap<>()).put(entry.path(), entry));
    }

    /** Returns whether there was such an entry. */
    public boolean remove(QuotaPath path, Scope scope) {
        SortedMap<QuotaPath, Change.BudgetSet> ofScope = entries.getOrDefault(scope, new TreeMap<>());
        boolean news = ofScope.remove(path) != null;
        if (ofScope.isEmpty()) {
            entries.remove(scope);
        }
        return news;
    }

    /** All entries, as changes that restore this state. */
    public List<Change.BudgetSet> all() {
        List<Change.BudgetSet> all = new ArrayList<>();
        entries.values().forEach(ofScope -> all.addAll(ofScope.values()));
        return all;
    }

    /** One meter for each budget, with nothing counted against it yet. */
    public List<BudgetMeter> meters() {
        return all().stream()
                .map(entry -> new BudgetMeter(entry.path(), entry.scope(), entry.graceMillis()))
                .toList();
    }

    /** Subtracts the use since the last call from every budget. */
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

    /** Updates the meters with the remaining amounts, before a plan is made. */
    public void publish(Collection<BudgetMeter> budgetMeters) {
        budgetMeters.forEach(
                budgetMeter -> budgetMeter.setLeft(entry(budgetMeter).leftGpuMilliMillis()));
    }

    /**
     * Reserves the rest of a budget for the grace periods of the evicted work. Nothing starts under the budget until it
     * is stated again.
     */
    public void useUp(BudgetMeter budgetMeter) {
        Change.BudgetSet entry = entry(budgetMeter);
        put(at(entry, Math.min(0, entry.leftGpuMilliMillis()), entry.heldGpuMilli(), entry.asOfMillis()));
        budgetMeter.setLeft(0);
    }

    /** Records what each budget's path holds after the last plan. */
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
            throw new IllegalStateException("no budget is stated for " + budgetMeter.path());
        }
        return entry;
    }
}
