package io.quartermaster.metering;

import io.quarkus.runtime.Startup;
import io.quarkus.vertx.VertxContextSupport;
import io.quartermaster.ledger.Segment;
import io.quartermaster.platform.ProblemException;
import io.quartermaster.platform.SystemDatabase;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.TenantTransactions;
import io.smallrye.mutiny.Uni;
import jakarta.inject.Singleton;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Writes usage record by record. Closed records are read page by page, each in a transaction of its own: they never change, so the pages
 * fit together. Whoever downloads slowly holds a thread, but neither a connection nor more than one page.
 *
 * <p>An export that fails on the way breaks the connection off, so that a part is never taken for the whole.
 */
@Startup
@Singleton
class UsageExport {

    private static final String MAPPING = "billing/usage-export.yaml";
    private static final int PAGE = 1_000;

    private final TenantTransactions tenants;
    private final SystemDatabase database;
    private final MeteringConfig config;
    private final ExportMapping mapping;

    UsageExport(TenantTransactions tenants, SystemDatabase database, MeteringConfig config) {
        this.tenants = tenants;
        this.database = database;
        this.config = config;
        this.mapping = mapping(config.exportMapping());
    }

    /** An export that can be written: all it needs is closed, or what is open may be added. */
    interface Prepared {
        ExportFormat format();

        /** Blocks; never on an event loop. */
        void write(OutputStream out) throws IOException;
    }

    /** A tenant's own, as the request role. */
    Prepared ofTenant(TenantId tenant, ExportRequest request) {
        return prepare(List.of(tenant), request, asTenant(tenant));
    }

    /** Several tenants', one after the other by id, as the system role. */
    Prepared ofTenants(Optional<TenantId> only, ExportRequest request) {
        List<TenantId> all = await(() -> database.in(
                        connection -> Query.of(connection).rows("select id, display_name from tenant order by id")))
                .stream()
                .map(row -> new TenantId(new Query.Reader(row).text("id")))
                .filter(tenant -> only.isEmpty() || only.get().equals(tenant))
                .toList();
        if (only.isPresent() && all.isEmpty()) {
            throw ProblemException.invalid("tenant", "there is no such tenant", "the id of a tenant");
        }
        return prepare(all, request, asSystem());
    }

    private Prepared prepare(List<TenantId> all, ExportRequest request, Reading reading) {
        ExportRequest.Asked asked = request.checked(Instant.now());
        if (!asked.provisional()) {
            all.forEach(tenant -> requireClosed(tenant, asked.window(), reading));
        }
        return new Prepared() {
            @Override
            public ExportFormat format() {
                return asked.format();
            }

            @Override
            public void write(OutputStream out) throws IOException {
                write(out, asked.format().header(mapping));
                for (TenantId tenant : all) {
                    writeTenant(out, UsageService.ledgerId(tenant), asked, reading);
                }
                out.flush();
            }

            private void write(OutputStream out, String text) throws IOException {
                out.write(text.getBytes(StandardCharsets.UTF_8));
            }
        };
    }

    /** Complete, or refused: an export never silently holds less than was asked for. */
    private void requireClosed(TenantId tenant, Window window, Reading reading) {
        io.quartermaster.ledger.TenantId id = UsageService.ledgerId(tenant);
        boolean closed = await(() -> reading.read(query -> ClosedHours.isClosedUntil(query, id, window.toMillis())));
        if (!closed) {
            throw ProblemException.conflict(
                    "hours-open",
                    "the hours until " + Instant.ofEpochMilli(window.toMillis()) + " are not all closed for tenant "
                            + tenant + "; ask for less, try again later, or take what is open with provisional=true");
        }
    }

    private void writeTenant(
            OutputStream out, io.quartermaster.ledger.TenantId tenant, ExportRequest.Asked asked, Reading reading)
            throws IOException {
        Window window = asked.window();
        // Read once, before the pages: what closes meanwhile is neither left out nor sent twice.
        Optional<OpenBook> open = asked.provisional()
                ? Optional.of(
                        await(() -> reading.read(query -> OpenBook.read(query, tenant, config.openEventsLimit()))))
                : Optional.empty();
        long closedUntil = open.map(
                        book -> Math.min(window.toMillis(), book.closed().endMillis()))
                .orElse(window.toMillis());
        long after = 0;
        List<Segments.Stored> page;
        do {
            long from = after;
            page = await(() -> reading.read(query -> Segments.after(query, tenant, from, PAGE, window, closedUntil)));
            for (Segments.Stored stored : page) {
                line(out, asked.format(), new ExportRecord(stored.segment(), Optional.of(stored.link())));
                after = stored.link().number();
            }
        } while (page.size() == PAGE);
        List<Segment> rest = open.map(book -> book.segments(window.toMillis())).orElse(List.of());
        for (Segment segment : rest) {
            if (segment.fromMillis() >= window.fromMillis()) {
                line(out, asked.format(), new ExportRecord(segment, Optional.empty()));
            }
        }
    }

    private void line(OutputStream out, ExportFormat format, ExportRecord exported) throws IOException {
        out.write(format.line(mapping, exported).getBytes(StandardCharsets.UTF_8));
    }

    /** As whom rows are read: one transaction per call. */
    private interface Reading {
        <T> Uni<T> read(Function<Query, Uni<T>> work);
    }

    private Reading asTenant(TenantId tenant) {
        return new Reading() {
            @Override
            public <T> Uni<T> read(Function<Query, Uni<T>> work) {
                return tenants.in(tenant, session -> work.apply(Query.of(session)));
            }
        };
    }

    private Reading asSystem() {
        return new Reading() {
            @Override
            public <T> Uni<T> read(Function<Query, Uni<T>> work) {
                return database.in(connection -> work.apply(Query.of(connection)));
            }
        };
    }

    private static <T> T await(Supplier<Uni<T>> work) {
        try {
            return VertxContextSupport.subscribeAndAwait(work);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    private static ExportMapping mapping(Optional<Path> given) {
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
