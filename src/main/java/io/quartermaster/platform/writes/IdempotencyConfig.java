package io.quartermaster.platform.writes;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;

/** What is kept of writes that carried an {@code Idempotency-Key}. */
@ConfigMapping(prefix = "quartermaster.idempotency")
public interface IdempotencyConfig {

    /** How long the answer to an Idempotency-Key is kept; after that the key counts as a new one. */
    @WithDefault("24h")
    Duration kept();
}
