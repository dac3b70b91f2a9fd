package io.quartermaster.insight;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;

/** Bounds on what one replica spends on outlooks and simulations. */
@ConfigMapping(prefix = "quartermaster.insight")
interface InsightConfig {

    /** Simulations that a replica takes on at a time, for whomever; it works them out one after the other. More are answered 503. */
    @WithDefault("4")
    int simulations();

    /** The same for one tenant, and for all operators together. More are answered 429. */
    @WithDefault("1")
    int simulationsPerTenant();

    /** How long a simulation may be worked out; what was found by then is the answer, which says up to when it reaches. */
    @WithDefault("5s")
    Duration timeLimit();

    /** The same for the forecast behind outlooks. */
    @WithDefault("1s")
    Duration forecastTimeLimit();

    /** How far outlooks look ahead, and a simulation that does not say how far. */
    @WithDefault("24h")
    Duration horizon();

    /** The farthest that a simulation may look ahead. */
    @WithDefault("30d")
    Duration longestHorizon();

    /** Plans made for one forecast or one side of a simulation. */
    @WithDefault("20000")
    int plansLimit();

    /**
     * Workloads that are not over, up to which the cell is looked at; beyond there are no outlooks and no simulations. A quarter of the heap at
     * 8 KiB each is the bound where that is less.
     */
    @WithDefault("250000")
    long workloadsLimit();

    /** Bound on each statement that reads the cell. */
    @WithDefault("10s")
    Duration statementTimeout();

    /** How long an explanation waits for the outlook before it is given without. */
    @WithDefault("2s")
    Duration patience();
}
