package io.quartermaster.metering;

import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.db.TenantTransactions;
import io.quartermaster.platform.http.Page;
import io.quartermaster.platform.http.PageRequest;
import io.quartermaster.platform.http.ProblemException;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import io.smallrye.mutiny.infrastructure.Infrastructure;
import io.vertx.mutiny.sqlclient.SqlConnection;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;

/** Reads usage: a tenant's in the request role, several tenants' for the operator in the system role. */
@ApplicationScoped
class UsageService {

    private final TenantTransactions tenants;
    private final SystemDatabase database;
    private final UsageReport report;

    UsageService(TenantTransactions tenants, SystemDatabase database, MeteringConfig config) {
        this.tenants = tenants;
        this.database = database;
        this.report = new UsageReport(config);
    }

    Uni<UsageApi.View> reportForTenant(TenantId tenant, UsageRequest request) {
        UsageRequest.UsageSpec spec = request.validate(Instant.now());
        return tenants.in(tenant, session -> report.read(UsageQuery.of(session), tenantKey(tenant), spec))
                .emitOn(Infrastructure.getDefaultWorkerPool())
                .map(report::toView);
    }

    /**
     * One answer per tenant, by id, including tenants without usage. All pages have the window of the first page: their
     * tokens carry its request time.
     */
    Uni<Page<UsageApi.View>> reportForTenants(Optional<TenantId> only, UsageRequest request, PageRequest page) {
        Instant now = Instant.now().truncatedTo(ChronoUnit.MILLIS);
        String scope =
                "operator usage " + only.map(TenantId::value).orElse("") + " " + request.scope(request.validate(now));
        UsagePageToken begin = page.after(scope).map(UsagePageToken::read).orElseGet(() -> new UsagePageToken(now, ""));
        UsageRequest.UsageSpec spec = request.validate(begin.now());
        String after = begin.after();
        int size = page.size();
        return database.in(connection -> tenantIds(connection, only, after, size + 1)
                        .onItem()
                        .transformToMulti(ids -> Multi.createFrom().iterable(ids))
                        .onItem()
                        .transformToUniAndConcatenate(id ->
                                report.read(UsageQuery.of(connection), new io.quartermaster.ledger.TenantKey(id), spec))
                        .collect()
                        .asList())
                .emitOn(Infrastructure.getDefaultWorkerPool())
                .map(reads ->
                        Page.of(reads.stream().map(report::toView).toList(), size, scope, view -> new UsagePageToken(
                                        begin.now(), view.tenant())
                                .toString()));
    }

    private static Uni<List<String>> tenantIds(
            SqlConnection connection, Optional<TenantId> only, String after, int limit) {
        return UsageQuery.of(connection)
                .rows(
                        "select id, display_name from tenant where id > $1 and ($2 = '' or id = $2) order by id "
                                + "limit $3",
                        after,
                        only.map(TenantId::value).orElse(""),
                        (long) limit)
                .map(rows -> rows.stream()
                        .map(row -> new UsageQuery.Reader(row).text("id"))
                        .toList())
                .invoke(ids -> {
                    if (only.isPresent() && ids.isEmpty() && after.isEmpty()) {
                        throw ProblemException.invalid("tenant", "there is no such tenant", "the id of a tenant");
                    }
                });
    }

    static io.quartermaster.ledger.TenantKey tenantKey(TenantId tenant) {
        return new io.quartermaster.ledger.TenantKey(tenant.value());
    }
}
