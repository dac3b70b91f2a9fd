package io.quartermaster.metering;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/** Settings for closing hours and serving usage. */
@ConfigMapping(prefix = "quartermaster.metering")
public interface MeteringConfig {

    /** Whether this replica closes hours; any number of replicas may. */
    @WithDefault("true")
    boolean closing();

    /** Interval between searches for hours that can close. */
    @WithDefault("10s")
    Duration closingInterval();

    /** The most tenants whose hours this replica closes at the same time; each takes a connection to PostgreSQL. */
    @WithDefault("4")
    int closingTenants();

    /** Time limit on each statement of closing and of audits. */
    @WithDefault("30s")
    Duration statementTimeout();

    /**
     * The most usage events after a tenant's last closed hour that one answer may count. More than that means that
     * closing is far behind.
     */
    @WithDefault("1000000")
    int openEventsLimit();

    /** The most rows of one usage answer. */
    @WithDefault("10000")
    int usageRowsLimit();

    /** The most closed hours of one tenant that one audit may read. */
    @WithDefault("9000")
    int auditHoursLimit();

    /** How long the result of an audit can be read; the last result stays. */
    @WithDefault("365d")
    Duration auditsKept();

    /**
     * The mapping of the export: names and order of its columns. Default: {@code billing/usage-export.yaml}, as built
     * in.
     */
    Optional<Path> exportMapping();

    /** The most usage exports that a replica sends at the same time. It answers further ones with 503. */
    @WithDefault("16")
    int exports();

    /**
     * The most usage exports at the same time for one tenant, and for all operators together. The service answers
     * further ones with 429.
     */
    @WithDefault("2")
    int exportsPerTenant();

    /** The longest that the reader of a usage export may take for 64 KiB; the service breaks a slower export off. */
    @WithDefault("30s")
    Duration exportPatience();

    /** The longest duration of a usage export; the service breaks a longer one off. */
    @WithDefault("15m")
    Duration exportTimeLimit();
}
