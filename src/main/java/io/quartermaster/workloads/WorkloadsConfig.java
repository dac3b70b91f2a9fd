package io.quartermaster.workloads;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;

/** Settings of submissions and live views. */
@ConfigMapping(prefix = "quartermaster.workloads")
public interface WorkloadsConfig {

    /** The number of workloads that one tenant may submit per second in the long run. */
    @WithDefault("1000")
    int submissionsPerSecond();

    /** The number of workloads that one tenant may submit in a burst; at least the size of a full batch. */
    @WithDefault("5000")
    int submissionBurst();

    /** How long room is held for a submission that the leader's counters do not include yet. */
    @WithDefault("60s")
    Duration holdTime();

    /**
     * How long a replica uses the cached terms of a queue. A change of the queue, its access rules or its profile takes
     * effect immediately in any case.
     */
    @WithDefault("2s")
    Duration queueCache();

    /** The most live views that one tenant may keep open on one replica. */
    @WithDefault("100")
    int watchersPerTenant();

    /** How often a live view reads the feed without a wake-up, in case one was lost. */
    @WithDefault("2s")
    Duration watchPoll();

    /** How often a stream of logs reads the output that agents reported. */
    @WithDefault("1s")
    Duration logPoll();

    /**
     * How often a live view checks that its caller and the tenant still exist. It ends at the latest when its token
     * expires.
     */
    @WithDefault("1m")
    Duration watchRecheck();

    /** How long the entries of the feed are kept, which limits how far back a live view can resume. */
    @WithDefault("24h")
    Duration feedKept();

    /** How long the environment of a workload is kept after its end. Then it is stored as empty. */
    @WithDefault("24h")
    Duration environmentKept();
}
