package io.quartermaster.execution.agents;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;

/** Times of the protocol between the service and the agents of its nodes. */
@ConfigMapping(prefix = "quartermaster.agents")
interface AgentProtocolConfig {

    /** How long an agent may run work after it sent a request. Without contact, work ends after this time. */
    @WithDefault("60s")
    Duration lease();

    /**
     * How much longer the service waits after an agent's lease has expired. The margin covers differences between
     * clocks and processes that end slowly.
     */
    @WithDefault("5s")
    Duration margin();

    /**
     * The longest time for which the service holds an agent's call open. An agent asks for a sixth of the lease, so
     * that two calls that hang still leave time for a third; a longer time has no effect.
     */
    @WithDefault("10s")
    Duration maxWait();

    /** How often one query looks for changes that concern held calls, in case a wake-up was lost. */
    @WithDefault("1s")
    Duration poll();
}
