package io.quartermaster.platform.writes;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;

/** How long the service remembers writes with an {@code Idempotency-Key}. */
@ConfigMapping(prefix = "quartermaster.idempotency")
public interface IdempotencyConfig {

    /** How long the service keeps the answer to an Idempotency-Key. After that, the key counts as a new one. */
    @WithDefault("24h")
    Duration kept();
}
