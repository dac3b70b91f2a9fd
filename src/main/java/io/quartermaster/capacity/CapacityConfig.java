package io.quartermaster.capacity;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;

/** What an installation decides about its capacity. */
@ConfigMapping(prefix = "quartermaster.capacity")
public interface CapacityConfig {

    /**
     * Whether nodes that cannot keep tenants apart (isolation {@code none}) may be in a pool of several tenants. Only for demonstrations
     * whose tenants trust each other: their work then runs as one OS user and can see and stop each other.
     */
    @WithDefault("false")
    boolean trustUnisolatedNodes();
}
