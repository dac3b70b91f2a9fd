package io.quartermaster.platform.operations;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;

/** How long work is done. */
@ConfigMapping(prefix = "quartermaster.operations")
public interface OperationsConfig {

    /** How often unfinished operations are looked for. */
    @WithDefault("1s")
    Duration poll();

    /** A process that died loses its operations to others after this long; while it lives it renews. */
    @WithDefault("15s")
    Duration lease();

    /** The wait after a failed step; it doubles with every failure. */
    @WithDefault("1s")
    Duration retryFirst();

    /** The longest wait after a failed step. */
    @WithDefault("1m")
    Duration retryMost();

    /**
     * How many times an operation retries a failed step before it ends as failed. A repeated request then starts it again.
     * Failures because Keycloak is unreachable (no answer, or 502, 503 or 504) do not count.
     */
    @WithDefault("20")
    int retries();

    /** How long an operation that is done or has failed can be read; the last of its kind stays. Audits say how long for themselves. */
    @WithDefault("90d")
    Duration kept();
}
