package io.quartermaster.platform;

import io.quarkus.arc.All;
import io.quarkus.scheduler.Scheduled;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;

/** Forgets operations that have been over for long, and with them what they found. */
@ApplicationScoped
class OldOperations {

    /** Of one kind in one go; far more than begin in the time between. */
    private static final int MAX_DROPPED = 1_000;

    private final SystemDatabase database;
    private final OperationsConfig config;
    private final List<LongWork> works;

    OldOperations(SystemDatabase database, OperationsConfig config, @All List<LongWork> works) {
        this.database = database;
        this.config = config;
        this.works = List.copyOf(works);
    }

    /** Replicas may do the same side by side: each takes rows that no other holds. */
    @Scheduled(every = "10m", delayed = "1m", concurrentExecution = Scheduled.ConcurrentExecution.SKIP)
    Uni<Void> dropOld() {
        return Multi.createFrom()
                .iterable(works)
                .onItem()
                .transformToUniAndConcatenate(
                        work -> dropOld(work.kind(), work.kept().orElse(config.kept())))
                .collect()
                .last()
                .replaceWithVoid();
    }

    /** The tenant's last of a kind stays: it says how the tenant was made, and is where asking again goes on. */
    private Uni<Void> dropOld(String kind, Duration kept) {
        OffsetDateTime before = OffsetDateTime.now(ZoneOffset.UTC).minus(kept);
        return database.on(connection -> connection
                .preparedQuery("""
                        delete from operation where id in (
                            select o.id from operation o
                             where o.kind = $1 and o.state in ('succeeded', 'failed') and o.updated_at < $2
                               and exists (select 1 from operation newer
                                            where newer.tenant_id = o.tenant_id and newer.kind = o.kind and newer.id > o.id)
                             order by o.id limit $3 for update skip locked)
                        """)
                .execute(Tuple.of(kind, before, MAX_DROPPED))
                .replaceWithVoid());
    }
}
