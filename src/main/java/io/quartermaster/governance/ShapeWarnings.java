package io.quartermaster.governance;

import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.placement.ShapeFit;
import io.quartermaster.governance.rules.Profile;
import io.quartermaster.governance.rules.TenantRules;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * Warns of profiles whose work could never run on any node of their pools. It does not judge a pool without nodes, or
 * one whose nodes are not all known: nodes that fit may still join.
 */
final class ShapeWarnings {

    private ShapeWarnings() {}

    /** The profiles that a change creates or updates, and those for which it creates a queue. */
    static List<Profile> changedProfiles(TenantRules before, TenantRules after) {
        Map<UUID, Profile> concerned = new LinkedHashMap<>();
        Diff<Profile> profiles = Diff.ofProfiles(before, after);
        profiles.added().forEach(profile -> concerned.put(profile.id(), profile));
        profiles.changed().forEach(profile -> concerned.put(profile.id(), profile));
        Diff.ofQueues(before, after).added().stream()
                .map(after::profileOf)
                .forEach(profile -> concerned.put(profile.id(), profile));
        return List.copyOf(concerned.values());
    }

    static List<String> warnings(TenantRules rules, List<Profile> profiles, Map<PoolId, ShapeFit> fits) {
        List<String> warnings = new ArrayList<>();
        profiles.forEach(profile -> warnings(rules, profile, fits).ifPresent(warnings::add));
        return warnings;
    }

    private static Optional<String> warnings(TenantRules rules, Profile profile, Map<PoolId, ShapeFit> fits) {
        Shape shape = profile.shape(profile.gpus());
        List<String> unmet = new ArrayList<>();
        for (PoolId pool : profile.pools()) {
            Optional<String> need = Optional.ofNullable(fits.get(pool)).flatMap(fit -> fit.unmetNeed(shape));
            if (need.isEmpty()) {
                return Optional.empty();
            }
            unmet.add("pool " + rules.nameOf(pool) + " can never run it: " + need.get());
        }
        return Optional.of("work of profile " + profile.name() + " would wait forever: " + String.join("; ", unmet));
    }
}
