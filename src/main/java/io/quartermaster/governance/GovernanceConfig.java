package io.quartermaster.governance;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;

/** How tenants' rules are kept true. */
@ConfigMapping(prefix = "quartermaster.governance")
interface GovernanceConfig {

    /** How often policies are compared with the groups of their realms: so long a policy may go on after its group is gone. */
    @WithDefault("5m")
    Duration driftEvery();
}
