package io.quartermaster.insight;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;

/** Limits of one replica for outlooks and simulations. */
@ConfigMapping(prefix = "quartermaster.insight")
interface InsightConfig {

    /**
     * The most simulations that a replica accepts at a time, for all callers together. It computes them one after the
     * other, and answers further ones with 503.
     */
    @WithDefault("4")
    int simulations();

    /**
     * The most simulations that a replica accepts at a time for one tenant, and for all operators together. It answers
     * further ones with 429.
     */
    @WithDefault("1")
    int simulationsPerTenant();

    /**
     * The time limit of a simulation. At the limit the answer is what was found so far, and states the time that it
     * reaches.
     */
    @WithDefault("5s")
    Duration timeLimit();

    /** The time limit of the forecast behind outlooks. */
    @WithDefault("1s")
    Duration forecastTimeLimit();

    /** The time limit of the search for remedies of one explanation; those that it has found by then are shown. */
    @WithDefault("500ms")
    Duration remedyTimeLimit();

    /** How far outlooks look ahead, and simulations without a horizon of their own. */
    @WithDefault("24h")
    Duration horizon();

    /** The longest horizon that a simulation may request. */
    @WithDefault("30d")
    Duration longestHorizon();

    /** The most plans for one forecast, or for one side of a simulation. */
    @WithDefault("20000")
    int plansLimit();

    /**
     * The most live workloads of a cell for which replicas compute outlooks and simulations. A quarter of the heap at 8
     * KiB per workload is the limit if that is less.
     */
    @WithDefault("250000")
    long workloadsLimit();

    /** The time limit of each statement that reads the cell. */
    @WithDefault("10s")
    Duration statementTimeout();

    /** How long an explanation waits for its outlook before it is returned without it. */
    @WithDefault("2s")
    Duration patience();
}
