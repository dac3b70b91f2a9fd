package io.quartermaster.platform.operations;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;

/** How long-running work is carried out. */
@ConfigMapping(prefix = "quartermaster.operations")
public interface OperationsConfig {

    /** How often each replica looks for unfinished operations. */
    @WithDefault("1s")
    Duration poll();

    /**
     * How long a process owns an operation without renewing it. After this time, other replicas take over the
     * operations of a process that died.
     */
    @WithDefault("15s")
    Duration lease();

    /** The wait after the first failure of a step; it doubles with every further failure. */
    @WithDefault("1s")
    Duration retryFirst();

    /** The longest wait after a failed step. */
    @WithDefault("1m")
    Duration retryMost();

    /**
     * How many times an operation retries a failed step before it ends as failed. A repeated request then starts it
     * again. Failures because Keycloak is unreachable (no answer, or 502, 503 or 504) do not count.
     */
    @WithDefault("20")
    int retries();

    /**
     * How long an ended operation can be read; a tenant's last operation of each kind stays. Audits have a setting of
     * their own.
     */
    @WithDefault("90d")
    Duration kept();
}
