package io.quartermaster.platform.db;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.arc.All;
import io.quarkus.runtime.Startup;
import io.quarkus.scheduler.Scheduled;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.Row;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Deletes expired rows in batches, with pauses between them, until none is left. So it keeps up with any rate of new
 * rows and holds no lock for long. At least half of the time stays free for other work of the database. Several
 * replicas may run at the same time: each skips rows that another has locked.
 */
@Startup
@ApplicationScoped
public class RetentionCleaner {

    private static final Logger LOG = Logger.getLogger(RetentionCleaner.class);
    private static final OffsetDateTime BEGINNING = OffsetDateTime.of(1970, 1, 1, 0, 0, 0, 0, ZoneOffset.UTC);

    private final SystemDatabase database;
    private final RetentionConfig config;
    private final List<Table> tables;

    RetentionCleaner(
            SystemDatabase database,
            RetentionConfig config,
            @All List<RetentionSource> sources,
            MeterRegistry metrics) {
        if (config.batch() < 1) {
            throw new IllegalArgumentException("quartermaster.retention.batch is at least 1");
        }
        this.database = database;
        this.config = config;
        this.tables = sources.stream()
                .flatMap(source -> source.retentions().stream())
                .map(retention -> new Table(retention, metrics))
                .toList();
    }

    /** A retention rule with its metrics. */
    private static final class Table {

        private final Retention retention;
        private final Counter deleted;
        private final AtomicLong overdueMillis = new AtomicLong();

        Table(Retention retention, MeterRegistry metrics) {
            this.retention = retention;
            this.deleted = Counter.builder("quartermaster.retention.deleted")
                    .description("rows that this replica deleted because they had expired")
                    .tag("rows", retention.name())
                    .register(metrics);
            Gauge.builder("quartermaster.retention.overdue", overdueMillis, millis -> millis.get() / 1_000.0)
                    .description("how long ago the oldest expired row should have been deleted")
                    .baseUnit("seconds")
                    .tag("rows", retention.name())
                    .register(metrics);
        }
    }

    /**
     * The date at which the next batch of a round begins. Batches run one after the other, possibly on different
     * threads.
     */
    private static final class Cursor {
        private volatile OffsetDateTime from = BEGINNING;
    }

    /** The number of rows that one statement selected, the number that it deleted, and the latest date among them. */
    private record Batch(long rows, long deleted, @Nullable OffsetDateTime latest) {

        /**
         * The date at which the next batch begins. A date with nothing to delete is skipped: otherwise each batch would
         * select the same rows again.
         */
        OffsetDateTime next(OffsetDateTime from) {
            return latest == null ? from : deleted > 0 ? latest : latest.plusNanos(1_000);
        }
    }

    @Scheduled(
            every = "${quartermaster.retention.every:10s}",
            delayed = "${quartermaster.retention.every:10s}",
            concurrentExecution = Scheduled.ConcurrentExecution.SKIP)
    Uni<Void> cleanRegularly() {
        return clean();
    }

    /** Completes when no expired row is left. A failure for one table is logged and does not stop the others. */
    public Uni<Void> clean() {
        return Multi.createFrom()
                .iterable(tables)
                .onItem()
                .transformToUniAndConcatenate(table -> clean(table)
                        .onFailure()
                        .invoke(e -> LOG.warnf(
                                "Expired rows of %s could not be deleted: %s", table.retention.name(), e.getMessage()))
                        .onFailure()
                        .recoverWithNull()
                        .chain(() -> measure(table)))
                .collect()
                .last()
                .replaceWithVoid();
    }

    private Uni<Void> clean(Table table) {
        Cursor cursor = new Cursor();
        return Multi.createBy()
                .repeating()
                .uni(() -> deleteBatch(table, cursor))
                .whilst(batch -> batch.rows() >= config.batch())
                .collect()
                .last()
                .replaceWithVoid();
    }

    /** Continues at the date at which the last batch ended: earlier rows are deleted and need not be read again. */
    private Uni<Batch> deleteBatch(Table table, Cursor cursor) {
        long begun = System.nanoTime();
        Tuple dates = Tuple.of(cursor.from, now().minus(table.retention.retention()), config.batch());
        return database.on(connection ->
                        connection.preparedQuery(table.retention.delete()).execute(dates))
                .map(rows -> {
                    Row row = rows.iterator().next();
                    return new Batch(row.getLong("rows"), row.getLong("deleted"), row.getOffsetDateTime("latest"));
                })
                .invoke(batch -> {
                    table.deleted.increment(batch.deleted());
                    cursor.from = batch.next(cursor.from);
                })
                .chain(batch -> batch.rows() < config.batch()
                        ? Uni.createFrom().item(batch)
                        : Uni.createFrom().item(batch).onItem().delayIt().by(pause(System.nanoTime() - begun)));
    }

    private Duration pause(long tookNanos) {
        return Duration.ofNanos(Math.max(tookNanos, Math.max(1, config.pause().toNanos())));
    }

    private Uni<Void> measure(Table table) {
        return database.on(
                        connection -> connection.query(table.retention.oldest()).execute())
                .invoke(rows -> {
                    OffsetDateTime due = now().minus(table.retention.retention());
                    long overdue = 0;
                    for (Row row : rows) {
                        OffsetDateTime oldest = row.getOffsetDateTime("oldest");
                        overdue = oldest == null
                                ? 0
                                : Duration.between(oldest, due).toMillis();
                    }
                    table.overdueMillis.set(Math.max(0, overdue));
                })
                .replaceWithVoid()
                .onFailure()
                .recoverWithNull();
    }

    private static OffsetDateTime now() {
        return OffsetDateTime.now(ZoneOffset.UTC);
    }
}
