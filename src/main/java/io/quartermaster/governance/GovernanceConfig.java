package io.quartermaster.governance;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;

/** Settings of the drift check, which compares policies with the groups of their realms. */
@ConfigMapping(prefix = "quartermaster.governance")
interface GovernanceConfig {

    /**
     * Interval between comparisons of policies with the groups of their realms. A policy whose group is gone stays
     * active for up to this long.
     */
    @WithDefault("5m")
    Duration driftEvery();
}
