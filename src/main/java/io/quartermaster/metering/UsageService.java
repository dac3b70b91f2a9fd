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
import java.util.regex.Matcher;
import java.util.regex.Pattern;

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
        return tenants.in(tenant, session -> report.read(UsageQuery.of(session), tenantKey(tenant), spec, true))
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
        PageToken begin = page.after(scope).map(PageToken::read).orElseGet(() -> new PageToken(now, ""));
        UsageRequest.UsageSpec spec = request.validate(begin.now());
        String after = begin.after();
        int size = page.size();
        return database.in(connection -> tenantIds(connection, only, after, size + 1)
                        .onItem()
                        .transformToMulti(ids -> Multi.createFrom().iterable(ids))
                        .onItem()
                        .transformToUniAndConcatenate(id -> report.read(
                                UsageQuery.of(connection), new io.quartermaster.ledger.TenantKey(id), spec, false))
                        .collect()
                        .asList())
                .emitOn(Infrastructure.getDefaultWorkerPool())
                .map(reads -> Page.of(reads.stream().map(report::toView).toList(), size, scope, view -> new PageToken(
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

    /**
     * The start of a page of several tenants' usage, as page tokens carry it.
     *
     * @param now the time that absent ends of the window refer to, for all pages of a list
     * @param after the last tenant of the page before
     */
    private record PageToken(Instant now, String after) {

        private static final Pattern FORM = Pattern.compile("([0-9]{1,15}) ([a-z0-9-]{1,64})");

        static PageToken read(String text) {
            Matcher matcher = FORM.matcher(text);
            if (!matcher.matches()) {
                throw ProblemException.invalid(
                        "pageToken", "is not a token of this list", "the nextPageToken of the page before");
            }
            return new PageToken(Instant.ofEpochMilli(Long.parseLong(matcher.group(1))), matcher.group(2));
        }

        @Override
        public String toString() {
            return now.toEpochMilli() + " " + after;
        }
    }
}
