package io.quartermaster.testing;

import io.quarkus.test.junit.QuarkusTestProfile;
import java.util.Map;

/** A service that leads no cell: the test leads it step by step, or the cell has no leader. */
public final class WithoutLeader implements QuarkusTestProfile {

    @Override
    public Map<String, String> getConfigOverrides() {
        return Map.of("quartermaster.dispatch.enabled", "false");
    }
}
