package io.quartermaster.workloads;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;

/** Settings of submission and live views. */
@ConfigMapping(prefix = "quartermaster.workloads")
public interface WorkloadsConfig {

    /** Workloads that one tenant may submit each second in the long run. */
    @WithDefault("1000")
    int submissionsPerSecond();

    /** Workloads that one tenant may submit at once; at least the size of a full batch. */
    @WithDefault("5000")
    int submissionBurst();

    /** How long room is held for a submission that no plan has carried yet. */
    @WithDefault("60s")
    Duration holdTime();

    /** How long a replica uses what it read of a queue without reading it again. A change of the queue, its access rules or its profile counts at once all the same. */
    @WithDefault("2s")
    Duration queueCache();

    /** Live views that one tenant may keep open on one replica. */
    @WithDefault("100")
    int watchersPerTenant();

    /** How often a live view looks by itself, should a wake-up be lost. */
    @WithDefault("2s")
    Duration watchPoll();

    /** How often a live view checks that its caller and the tenant are still there. It ends at the latest when its token expires. */
    @WithDefault("1m")
    Duration watchRecheck();

    /** How long the entries of the feed are kept, and so how late a live view can be resumed. */
    @WithDefault("24h")
    Duration feedKept();

    /** How long the environment of a workload is kept after its end; from then on it is stored as empty. */
    @WithDefault("24h")
    Duration environmentKept();
}
