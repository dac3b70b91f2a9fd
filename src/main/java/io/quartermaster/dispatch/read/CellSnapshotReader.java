package io.quartermaster.dispatch.read;

import io.quartermaster.platform.db.LeaderDatabase;
import io.vertx.mutiny.sqlclient.Row;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.Optional;

/** Reads the stored state of this replica's cell, whichever replica leads it. */
@ApplicationScoped
public class CellSnapshotReader {

    private final LeaderDatabase database;
    private final DispatchConfig config;

    CellSnapshotReader(LeaderDatabase database, DispatchConfig config) {
        this.database = database;
        this.config = config;
    }

    /**
     * Reads everything in one transaction, so that it is one state of the tables. Blocks; must not run on an event
     * loop.
     *
     * @param timeout of each statement
     * @param maxWorkloads the most live workloads; if there are more, nothing is read and the result is empty
     */
    public Optional<CellSnapshot> read(Duration timeout, long maxWorkloads) {
        return database.run(timeout, transaction -> {
            transaction.run("set transaction isolation level repeatable read, read only");
            Row now = transaction.run("""
                            select greatest(stamp, date_trunc('milliseconds', clock_timestamp())) as stamp,
                                   (select count(*) from workload where state not in ('succeeded', 'failed',
                                       'cancelled')) as workloads
                              from cell where id = $1
                            """, config.cell()).iterator().next();
            OffsetDateTime stamp = now.getOffsetDateTime("stamp");
            return now.getLong("workloads") > maxWorkloads
                    ? Optional.empty()
                    : Optional.of(new CellSnapshot(
                            CellFacts.read(transaction, config.cell(), stamp, CapacityFacts.Executors.of(config)),
                            EngineSettings.of(config),
                            CellReader.millis(stamp)));
        });
    }
}
