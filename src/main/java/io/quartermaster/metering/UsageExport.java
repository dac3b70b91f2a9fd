package io.quartermaster.metering;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.runtime.Startup;
import io.quarkus.vertx.core.runtime.context.VertxContextSafetyToggle;
import io.quartermaster.ledger.audit.HashChain;
import io.quartermaster.platform.EnumNames;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.db.TenantTransactions;
import io.quartermaster.platform.http.ConcurrencyLimiter;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.http.StreamedResponse;
import io.smallrye.common.vertx.VertxContext;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.ext.web.RoutingContext;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Singleton;
import jakarta.ws.rs.core.HttpHeaders;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * Exports usage record by record. Closed records are read page by page, each in a transaction of its own: they never
 * change, so the pages fit together. A slow reader holds one of the slots for exports and a few pages in memory: the
 * next page is read while one is written. It holds neither a thread nor a connection to the database. Counting and
 * formatting run on separate threads.
 *
 * <p>An export that fails midway closes the connection, so that no reader mistakes a part for the whole.
 */
@Startup
@Singleton
class UsageExport {

    private static final String MAPPING = "billing/usage-export.yaml";
    private static final int PAGE_SIZE = 1_000;

    /** In characters. A reader must accept one piece within the time limit of a piece. */
    private static final int PIECE_CHARS = 64 * 1024;

    private static final int FORMATTING_THREADS = 2;

    private final Vertx vertx;
    private final TenantTransactions tenants;
    private final SystemDatabase database;
    private final MeteringConfig config;
    private final ExportMapping mapping;
    private final ConcurrencyLimiter concurrencyLimiter;
    private final StreamedResponse.Limits limits;
    private final ScheduledExecutorService threads = Executors.newScheduledThreadPool(FORMATTING_THREADS, work -> {
        Thread thread = new Thread(work, "usage-export");
        thread.setDaemon(true);
        return thread;
    });

    UsageExport(
            Vertx vertx,
            TenantTransactions tenants,
            SystemDatabase database,
            MeteringConfig config,
            MeterRegistry metrics) {
        this.vertx = vertx;
        this.tenants = tenants;
        this.database = database;
        this.config = config;
        this.mapping = loadMapping(config.exportMapping());
        this.concurrencyLimiter = new ConcurrencyLimiter("exports", config.exports(), config.exportsPerTenant());
        this.limits = new StreamedResponse.Limits(config.exportPatience(), config.exportTimeLimit());
        Gauge.builder("quartermaster.usage.exports", concurrencyLimiter, ConcurrencyLimiter::permitsInUse)
                .description("usage exports that this replica sends now")
                .register(metrics);
    }

    @PreDestroy
    void stop() {
        threads.shutdownNow();
    }

    /** An export that is ready to send: all its usage is closed, or the request permits open usage. */
    record PreparedExport(ExportFormat format, Multi<Buffer> pieces) {}

    /** Answers with a tenant's own usage. */
    Uni<Void> sendTenant(TenantId tenant, ExportRequest request, RoutingContext http) {
        return concurrencyLimiter.runLimited(Optional.of(tenant), () -> prepareForTenant(tenant, request)
                .chain(export -> send(export, "usage-" + tenant, http)));
    }

    /** Answers with the usage of several tenants. */
    Uni<Void> sendTenants(Optional<TenantId> only, ExportRequest request, RoutingContext http) {
        return concurrencyLimiter.runLimited(
                Optional.empty(), () -> prepareForTenants(only, request).chain(export -> send(export, "usage", http)));
    }

    private Uni<Void> send(PreparedExport export, String name, RoutingContext http) {
        Map<String, String> headers = Map.of(
                HttpHeaders.CONTENT_TYPE,
                export.format().mediaType(),
                HttpHeaders.CONTENT_DISPOSITION,
                "attachment; filename=\"" + name + "." + EnumNames.of(export.format()) + "\"");
        return new StreamedResponse(http, headers, limits, threads).send(export.pieces());
    }

    /** The usage of one tenant, in the request role. */
    Uni<PreparedExport> prepareForTenant(TenantId tenant, ExportRequest request) {
        return prepare(List.of(tenant), request.validate(Instant.now()), asTenant(tenant));
    }

    /** The usage of several tenants, one after the other by id, in the system role. */
    Uni<PreparedExport> prepareForTenants(Optional<TenantId> only, ExportRequest request) {
        ExportRequest.ExportSpec spec = request.validate(Instant.now());
        return findTenants(only).chain(all -> prepare(all, spec, asSystem()));
    }

    private Uni<PreparedExport> prepare(List<TenantId> all, ExportRequest.ExportSpec spec, QueryRunner queryRunner) {
        return requireClosed(all, spec, queryRunner)
                .map(closed -> new PreparedExport(spec.format(), pieces(all, spec, queryRunner)));
    }

    private Uni<List<TenantId>> findTenants(Optional<TenantId> only) {
        return database.in(
                        connection -> UsageQuery.of(connection).rows("select id, display_name from tenant order by id"))
                .map(rows -> {
                    List<TenantId> all = rows.stream()
                            .map(row -> new TenantId(new UsageQuery.Reader(row).text("id")))
                            .filter(tenant -> only.isEmpty() || only.get().equals(tenant))
                            .toList();
                    if (only.isPresent() && all.isEmpty()) {
                        throw ProblemException.invalid("tenant", "there is no such tenant", "the id of a tenant");
                    }
                    return all;
                });
    }

    /** Refuses an incomplete export, so that an export never silently contains less than the request asks for. */
    private Uni<Void> requireClosed(List<TenantId> all, ExportRequest.ExportSpec spec, QueryRunner queryRunner) {
        return Multi.createFrom()
                .iterable(spec.provisional() ? List.<TenantId>of() : all)
                .onItem()
                .transformToUniAndConcatenate(tenant -> requireClosed(tenant, spec.window(), queryRunner))
                .onItem()
                .ignoreAsUni();
    }

    private static Uni<Void> requireClosed(TenantId tenant, UsageWindow usageWindow, QueryRunner queryRunner) {
        return queryRunner
                .run(usageQuery ->
                        ClosedHours.isClosedUntil(usageQuery, UsageService.tenantKey(tenant), usageWindow.toMillis()))
                .invoke(closed -> {
                    if (!closed) {
                        throw ProblemException.conflict(
                                "hours-open",
                                "the hours until " + Instant.ofEpochMilli(usageWindow.toMillis())
                                        + " are not all closed for tenant " + tenant
                                        + "; request a shorter window, try again later, or include open "
                                        + "usage with provisional=true");
                    }
                })
                .replaceWithVoid();
    }

    private Multi<Buffer> pieces(List<TenantId> all, ExportRequest.ExportSpec spec, QueryRunner queryRunner) {
        String header = spec.format().header(mapping);
        Multi<Buffer> begin = header.isEmpty()
                ? Multi.createFrom().empty()
                : Multi.createFrom().item(Buffer.buffer(header));
        Multi<Buffer> records = Multi.createFrom()
                .iterable(all)
                .onItem()
                .transformToMultiAndConcatenate(
                        tenant -> piecesOfTenant(UsageService.tenantKey(tenant), spec, queryRunner));
        return Multi.createBy().concatenating().streams(begin, records);
    }

    private Multi<Buffer> piecesOfTenant(
            io.quartermaster.ledger.TenantKey tenant, ExportRequest.ExportSpec spec, QueryRunner queryRunner) {
        // Read once, before the pages: usage that closes in the meantime is neither left out nor sent twice.
        Uni<Optional<UnclosedUsage>> open = spec.provisional()
                ? queryRunner
                        .run(usageQuery -> UnclosedUsage.read(usageQuery, tenant, config.openEventsLimit()))
                        .map(Optional::of)
                : Uni.createFrom().item(Optional.empty());
        return open.onItem().transformToMulti(book -> Multi.createBy()
                .concatenating()
                .streams(
                        closedPieces(tenant, spec, queryRunner, closedUntil(book, spec.window())),
                        Multi.createFrom().deferred(() -> openPieces(book, spec))));
    }

    private static long closedUntil(Optional<UnclosedUsage> book, UsageWindow usageWindow) {
        return book.map(open -> Math.min(usageWindow.toMillis(), open.closed().endMillis()))
                .orElse(usageWindow.toMillis());
    }

    private Multi<Buffer> closedPieces(
            io.quartermaster.ledger.TenantKey tenant,
            ExportRequest.ExportSpec spec,
            QueryRunner queryRunner,
            long closedUntil) {
        return queryRunner
                .run(usageQuery -> ClosedHours.segmentNumbers(
                        usageQuery, tenant, spec.window().fromMillis(), closedUntil))
                .onItem()
                .transformToMulti(numbers -> Multi.createFrom().iterable(pages(numbers)))
                .onItem()
                .transformToUni(page -> queryRunner
                        .run(usageQuery -> SegmentStore.readBetween(usageQuery, tenant, page.after(), page.through()))
                        .invoke(stored -> requireComplete(tenant, page, stored))
                        .map(stored -> format(
                                spec,
                                stored.stream()
                                        .map(each -> new ExportRecord(
                                                each.segment(),
                                                Optional.of(new HashChain.End(each.number(), each.hash()))))
                                        .toList()))
                        // A page that fails does so in its place, after the page that is being written.
                        .onFailure()
                        .recoverWithItem(failure -> Multi.createFrom().failure(failure)))
                // One after the other; the next page is read while this one is written.
                .merge(1)
                .onItem()
                .transformToMultiAndConcatenate(Function.identity());
    }

    /** The pages are made one by one, when the reader asks for them. */
    private static Iterable<ClosedHours.NumberRange> pages(ClosedHours.NumberRange numbers) {
        return () -> LongStream.iterate(numbers.after(), after -> after < numbers.through(), after -> after + PAGE_SIZE)
                .mapToObj(after -> new ClosedHours.NumberRange(after, Math.min(after + PAGE_SIZE, numbers.through())))
                .iterator();
    }

    /** Numbers have no gap; with fewer records, or one twice, a part would be taken for the whole. */
    private static void requireComplete(
            io.quartermaster.ledger.TenantKey tenant,
            ClosedHours.NumberRange page,
            List<SegmentStore.StoredSegment> records) {
        long number = page.after();
        for (SegmentStore.StoredSegment stored : records) {
            number += stored.number() == number + 1 ? 1 : 0;
        }
        if (number != page.through() || records.size() != page.through() - page.after()) {
            throw new IllegalStateException("of tenant " + tenant + ", the records between " + page.after() + " and "
                    + page.through() + " are not complete: there are " + records.size());
        }
    }

    /** The usage that is not closed yet. */
    private Multi<Buffer> openPieces(Optional<UnclosedUsage> book, ExportRequest.ExportSpec spec) {
        return Uni.createFrom()
                .item(() -> book.map(open -> open.segments(spec.window().toMillis())).orElse(List.of()).stream()
                        .filter(segment -> segment.fromMillis() >= spec.window().fromMillis())
                        .map(segment -> new ExportRecord(segment, Optional.empty()))
                        .toList())
                .runSubscriptionOn(threads)
                .onItem()
                .transformToMulti(records -> Multi.createFrom().iterable(pages(records)))
                .onItem()
                .transformToMultiAndConcatenate(page -> format(spec, page));
    }

    private static List<List<ExportRecord>> pages(List<ExportRecord> records) {
        return IntStream.range(0, (records.size() + PAGE_SIZE - 1) / PAGE_SIZE)
                .mapToObj(page -> records.subList(page * PAGE_SIZE, Math.min(records.size(), (page + 1) * PAGE_SIZE)))
                .toList();
    }

    private Multi<Buffer> format(ExportRequest.ExportSpec spec, List<ExportRecord> page) {
        return Uni.createFrom()
                .item(() -> {
                    List<Buffer> pieces = new ArrayList<>();
                    StringBuilder piece = new StringBuilder(PIECE_CHARS + PIECE_CHARS / 8);
                    for (ExportRecord exported : page) {
                        spec.format().write(mapping, exported, piece);
                        if (piece.length() >= PIECE_CHARS) {
                            pieces.add(Buffer.buffer(piece.toString()));
                            piece.setLength(0);
                        }
                    }
                    if (!piece.isEmpty()) {
                        pieces.add(Buffer.buffer(piece.toString()));
                    }
                    return pieces;
                })
                .runSubscriptionOn(threads)
                .onItem()
                .transformToMulti(pieces -> Multi.createFrom().iterable(pieces));
    }

    /** The role in which rows are read: one transaction per call. */
    private interface QueryRunner {
        <T> Uni<T> run(Function<UsageQuery, Uni<T>> work);
    }

    private QueryRunner asTenant(TenantId tenant) {
        return new QueryRunner() {
            @Override
            public <T> Uni<T> run(Function<UsageQuery, Uni<T>> work) {
                return inContext(() -> tenants.in(tenant, session -> work.apply(UsageQuery.of(session))));
            }
        };
    }

    private QueryRunner asSystem() {
        return new QueryRunner() {
            @Override
            public <T> Uni<T> run(Function<UsageQuery, Uni<T>> work) {
                return database.in(connection -> work.apply(UsageQuery.of(connection)));
            }
        };
    }

    /**
     * Runs in a new context, because a session needs one: any thread that sent the last piece may request the next
     * page.
     */
    private <T> Uni<T> inContext(Supplier<Uni<T>> work) {
        return Uni.createFrom().emitter(read -> {
            Context context = VertxContext.createNewDuplicatedContext(vertx.getOrCreateContext());
            VertxContextSafetyToggle.setContextSafe(context, true);
            context.runOnContext(
                    now -> Uni.createFrom().deferred(work::get).subscribe().with(read::complete, read::fail));
        });
    }

    private static ExportMapping loadMapping(Optional<Path> given) {
        try {
            if (given.isPresent()) {
                return ExportMapping.parse(given.get().toString(), Files.readString(given.get()));
            }
            try (InputStream in = Thread.currentThread().getContextClassLoader().getResourceAsStream(MAPPING)) {
                if (in == null) {
                    throw new FileNotFoundException(MAPPING + " is not part of the program");
                }
                return ExportMapping.parse(MAPPING, new String(in.readAllBytes(), StandardCharsets.UTF_8));
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the mapping of the usage export cannot be read", e);
        }
    }
}
