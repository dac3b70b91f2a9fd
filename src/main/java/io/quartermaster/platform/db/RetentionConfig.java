package io.quartermaster.platform.db;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;

/** How the service deletes expired rows. */
@ConfigMapping(prefix = "quartermaster.retention")
public interface RetentionConfig {

    /** How often each replica looks for expired rows. */
    @WithDefault("10s")
    Duration every();

    /** Rows deleted in one statement. */
    @WithDefault("2000")
    int batch();

    /**
     * The shortest pause between two such statements. A statement that took longer is followed by a pause as long as it
     * took.
     */
    @WithDefault("10ms")
    Duration pause();
}
