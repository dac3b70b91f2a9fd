package io.quartermaster.workloads.feed;

import io.quartermaster.platform.db.Retention;
import io.quartermaster.platform.db.RetentionSource;
import io.quartermaster.workloads.WorkloadsConfig;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.List;

/**
 * The retention of the feed. The newest entry of each tenant stays, so that a view of a quiet tenant can always resume.
 */
@ApplicationScoped
class FeedRetention implements RetentionSource {

    /** Finds a tenant's newest entry once per batch: for each row, that would be nearly all of the work. */
    private static final String DELETE = """
            with old as materialized (
                select ctid, tenant_id, seq, at from feed where at >= $1 and at < $2
                 order by at limit $3 for update skip locked),
            newest as materialized (
                select t.tenant_id, (select max(f.seq) from feed f where f.tenant_id = t.tenant_id) as seq
                  from (select distinct tenant_id from old) t),
            deleted as (
                delete from feed where ctid = any (array(
                    select o.ctid from old o join newest n on n.tenant_id = o.tenant_id where o.seq < n.seq))
                returning 1)
            select (select count(*) from old) as rows, (select count(*) from deleted) as deleted,
                (select max(at) from old) as latest
            """;

    private static final String OLDEST = """
            select f.at as oldest from feed f
             where f.seq < (select max(newer.seq) from feed newer where newer.tenant_id = f.tenant_id)
                 order by f.at limit 1
            """;

    private final WorkloadsConfig config;

    FeedRetention(WorkloadsConfig config) {
        this.config = config;
    }

    @Override
    public List<Retention> retentions() {
        return List.of(new Retention("feed", config.feedKept(), DELETE, OLDEST));
    }
}
