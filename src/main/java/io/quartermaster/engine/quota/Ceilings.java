package io.quartermaster.engine.quota;

import io.quartermaster.engine.model.Caps;
import io.quartermaster.engine.model.QuotaPath;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** All bounds beside the quota trees. A bound of a path counts what is held there and below. */
public final class Ceilings {
    private final SortedMap<QuotaPath, Caps> caps;
    private final SortedMap<QuotaPath, Ceiling> onWorkloads = new TreeMap<>();
    private final SortedMap<QuotaPath, SortedMap<String, Ceiling>> onUsers = new TreeMap<>();

    public Ceilings(SortedMap<QuotaPath, Caps> caps) {
        this.caps = Collections.unmodifiableSortedMap(new TreeMap<>(caps));
    }

    /** Whether it matters who of a path's users asks. */
    public boolean tellUsersApart(QuotaPath path) {
        return !caps.isEmpty()
                && path.fromTenant().stream()
                        .map(caps::get)
                        .anyMatch(stated ->
                                stated != null && stated.perUserGpuMilli().isPresent());
    }

    /** Every bound that work of a path and user counts against, the widest first. */
    public List<Ceiling> over(QuotaPath path, Optional<String> user) {
        if (caps.isEmpty()) {
            return List.of();
        }
        List<Ceiling> found = new ArrayList<>();
        for (QuotaPath prefix : path.fromTenant()) {
            Caps stated = caps.get(prefix);
            if (stated != null && stated.perUserGpuMilli().isPresent() && user.isPresent()) {
                long most = stated.perUserGpuMilli().getAsLong();
                found.add(onUsers.computeIfAbsent(prefix, key -> new TreeMap<>())
                        .computeIfAbsent(user.get(), name -> new Ceiling(prefix, user, most)));
            }
            if (stated != null && stated.running().isPresent()) {
                int most = stated.running().getAsInt();
                found.add(onWorkloads.computeIfAbsent(prefix, key -> new Ceiling(key, Optional.empty(), most)));
            }
        }
        return found;
    }

    /** Counts something that comes, with a factor of 1, or that goes, with -1. */
    public void count(QuotaPath path, Optional<String> user, When when, long gpuMilli, boolean whole, int factor) {
        for (Ceiling ceiling : caps.isEmpty() ? List.<Ceiling>of() : over(path, user)) {
            ceiling.used().add(when, factor * ceiling.countOf(gpuMilli, whole));
        }
    }
}
