package io.quartermaster.workloads;

import io.quartermaster.platform.db.Retention;
import io.quartermaster.platform.db.RetentionSource;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.List;

/**
 * Empties the environments of finished workloads after a time: users put secrets there, and the service no longer needs
 * them.
 */
@ApplicationScoped
class EnvironmentRetention implements RetentionSource {

    private static final String DELETE = """
            with emptied as (
                update workload set environment = '{}', environment_removed_at = greatest(clock_timestamp(), ended_at)
                 where ctid = any (array(
                    select ctid from workload where ended_at >= $1 and ended_at < $2 and environment <> '{}'
                     order by ended_at limit $3 for update skip locked))
                returning ended_at)
            select count(*) as rows, count(*) as deleted, max(ended_at) as latest from emptied
            """;

    private static final String OLDEST =
            "select min(ended_at) as oldest from workload where ended_at is not null and environment <> '{}'";

    private final WorkloadsConfig config;

    EnvironmentRetention(WorkloadsConfig config) {
        this.config = config;
    }

    @Override
    public List<Retention> retentions() {
        return List.of(new Retention("workload.environment", config.environmentKept(), DELETE, OLDEST));
    }
}
