package io.quartermaster.metering;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/** How usage is closed and served. */
@ConfigMapping(prefix = "quartermaster.metering")
public interface MeteringConfig {

    /** Whether this replica closes hours; any number of replicas may. */
    @WithDefault("true")
    boolean closing();

    /** How often is looked for hours that can close. */
    @WithDefault("10s")
    Duration closingInterval();

    /** Bound on each statement of closing and of audits. */
    @WithDefault("30s")
    Duration statementTimeout();

    /** Usage events after a tenant's last closed hour that one answer may be counted from; when there are more, closing is far behind. */
    @WithDefault("1000000")
    int openEventsLimit();

    /** Rows of one usage answer. */
    @WithDefault("10000")
    int usageRowsLimit();

    /** Closed hours of one tenant that one audit may look at. */
    @WithDefault("9000")
    int auditHoursLimit();

    /** How long what an audit found can be read; the last one stays. */
    @WithDefault("365d")
    Duration auditsKept();

    /** The mapping of the export: names and order of its columns. Default: {@code billing/usage-export.yaml}, as built in. */
    Optional<Path> exportMapping();

    /** Usage exports that a replica sends at a time. More are answered 503. */
    @WithDefault("16")
    int exports();

    /** The same for one tenant, and for all operators together. More are answered 429. */
    @WithDefault("2")
    int exportsPerTenant();

    /** How long the reader of a usage export may take for 64 KiB; a slower one is broken off. */
    @WithDefault("30s")
    Duration exportPatience();

    /** How long a usage export may take in all; one that takes longer is broken off. */
    @WithDefault("15m")
    Duration exportTimeLimit();
}
