package io.quartermaster.engine.quota;

import io.quartermaster.engine.model.ConcurrencyCaps;
import io.quartermaster.engine.model.QuotaPath;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** All bounds outside the quota trees. A bound of a path counts the use of that path and of all paths below it. */
public final class CapIndex {
    private final SortedMap<QuotaPath, ConcurrencyCaps> concurrencyCaps;
    private final SortedMap<QuotaPath, Cap> onWorkloads = new TreeMap<>();
    private final SortedMap<QuotaPath, SortedMap<String, Cap>> onUsers = new TreeMap<>();

    public CapIndex(SortedMap<QuotaPath, ConcurrencyCaps> concurrencyCaps) {
        this.concurrencyCaps = Collections.unmodifiableSortedMap(new TreeMap<>(concurrencyCaps));
    }

    /** Whether a bound of the path depends on the user. */
    public boolean distinguishesUsers(QuotaPath path) {
        return !concurrencyCaps.isEmpty()
                && path.fromTenant().stream()
                        .map(concurrencyCaps::get)
                        .anyMatch(stated ->
                                stated != null && stated.perUserGpuMilli().isPresent());
    }

    /** Every bound that counts work of the given path and user, from the tenant downward. */
    public List<Cap> over(QuotaPath path, Optional<String> user) {
        if (concurrencyCaps.isEmpty()) {
            return List.of();
        }
        List<Cap> found = new ArrayList<>();
        for (QuotaPath prefix : path.fromTenant()) {
            ConcurrencyCaps stated = concurrencyCaps.get(prefix);
            if (stated != null && stated.perUserGpuMilli().isPresent() && user.isPresent()) {
                long most = stated.perUserGpuMilli().getAsLong();
                found.add(onUsers.computeIfAbsent(prefix, key -> new TreeMap<>())
                        .computeIfAbsent(user.get(), name -> new Cap(prefix, user, most)));
            }
            if (stated != null && stated.running().isPresent()) {
                int most = stated.running().getAsInt();
                found.add(onWorkloads.computeIfAbsent(prefix, key -> new Cap(key, Optional.empty(), most)));
            }
        }
        return found;
    }

    /** Counts use that starts, with a factor of 1, or that ends, with a factor of -1. */
    public void count(QuotaPath path, Optional<String> user, UsageView view, long gpuMilli, boolean whole, int factor) {
        for (Cap cap : concurrencyCaps.isEmpty() ? List.<Cap>of() : over(path, user)) {
            cap.used().add(view, factor * cap.countOf(gpuMilli, whole));
        }
    }
}
