package io.quartermaster.platform;

import io.quarkus.scheduler.Scheduled;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;

/** Forgets the answers of {@link Writes} and {@link OperatorWrites} that are too old to be asked for again. */
@ApplicationScoped
class IdempotencyKeys {

    /** Old keys dropped in one go: some hundred a second, more than come in. */
    private static final int MAX_DROPPED = 20_000;

    private final SystemDatabase database;
    private final IdempotencyConfig config;

    IdempotencyKeys(SystemDatabase database, IdempotencyConfig config) {
        this.database = database;
        this.config = config;
    }

    /** Replicas may do the same side by side: each takes rows that no other holds. */
    @Scheduled(every = "1m", delayed = "1m", concurrentExecution = Scheduled.ConcurrentExecution.SKIP)
    Uni<Void> dropOld() {
        OffsetDateTime before = OffsetDateTime.now(ZoneOffset.UTC).minus(config.kept());
        return database.on(connection -> connection
                .preparedQuery("""
                        delete from idempotency where (tenant_id, caller, key) in (
                            select i.tenant_id, i.caller, i.key from idempotency i
                             where i.created_at < $1 order by i.created_at limit $2 for update skip locked)
                        """)
                .execute(Tuple.of(before, MAX_DROPPED))
                .replaceWithVoid());
    }
}
