package io.quartermaster.execution.agents;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;

/** Times of the protocol between the service and the agents of its nodes. */
@ConfigMapping(prefix = "quartermaster.agents")
interface AgentProtocolConfig {

    /** How long an agent may run work after it sent a request. Without contact, work ends after this time. */
    @WithDefault("30s")
    Duration lease();

    /**
     * How much longer the service waits after an agent's lease has expired. The margin covers differences between
     * clocks and processes that end slowly.
     */
    @WithDefault("5s")
    Duration margin();

    /**
     * The longest time for which the service holds an agent's call open. Keep it well below the lease, so that a
     * healthy agent always renews in time.
     */
    @WithDefault("5s")
    Duration maxWait();

    /** How often a held call looks for changes by itself, in case a wake-up was lost. */
    @WithDefault("1s")
    Duration poll();
}
