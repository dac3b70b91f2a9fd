package io.quartermaster.execution.agents;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;

/** How the service treats the agents of its nodes. */
@ConfigMapping(prefix = "quartermaster.agents")
interface AgentProtocolConfig {

    /** How long an agent may run work from the moment it sent a request. Lost contact ends work after this long. */
    @WithDefault("30s")
    Duration lease();

    /** How much longer the service waits than the agent may run: for clocks that do not tick alike, and for what is slow to die. */
    @WithDefault("5s")
    Duration margin();

    /** The longest that a call is held open; well below the lease, so that a healthy agent always renews in time. */
    @WithDefault("5s")
    Duration maxWait();

    /** The poll behind the wake-ups of a held call. */
    @WithDefault("1s")
    Duration poll();
}
