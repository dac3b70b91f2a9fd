package io.quartermaster.metering;

import io.quartermaster.platform.ProblemException;
import io.quartermaster.platform.SystemDatabase;
import io.vertx.mutiny.sqlclient.Row;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Checks the stored books against what must hold of them. Reads only; blocks for as long as that takes. */
@ApplicationScoped
class AuditService {

    private static final int VIOLATIONS_LIMIT = 1_000;

    private final SystemDatabase database;
    private final MeteringConfig config;

    AuditService(SystemDatabase database, MeteringConfig config) {
        this.database = database;
        this.config = config;
    }

    AuditApi.View audit(AuditApi.@Nullable Request request) {
        AuditApi.Request asked = request == null ? new AuditApi.Request(null, null, null) : request;
        Window window = window(asked);
        List<AuditApi.Books> books = new ArrayList<>();
        List<AuditApi.Violation> violations =
                new ArrayList<>(database.run(config.statementTimeout(), AllocationAudit::ofDevices));
        for (String tenant : tenants(asked)) {
            var audit = new BooksAudit(database, config, new io.quartermaster.ledger.TenantId(tenant));
            audit.run(window);
            books.add(audit.books());
            violations.addAll(audit.violations());
            violations.addAll(
                    database.run(config.statementTimeout(), tx -> AllocationAudit.ofTenant(tx, tenant, window)));
        }
        return new AuditApi.View(
                violations.isEmpty(), books, violations.subList(0, Math.min(violations.size(), VIOLATIONS_LIMIT)));
    }

    private static Window window(AuditApi.Request asked) {
        long from = asked.from() == null ? 0 : asked.from().toEpochMilli();
        // Later than any stamp, so that an event of this very moment is looked at too.
        long to = asked.to() == null
                ? Instant.now().plusSeconds(60).toEpochMilli()
                : asked.to().toEpochMilli();
        if (from < 0 || from > to) {
            throw ProblemException.invalid(
                    "from", "it is not before the end of the window", UsageRequest.TIME_ACCEPTED);
        }
        return new Window(from, to);
    }

    private List<String> tenants(AuditApi.Request asked) {
        String only = asked.tenant() == null ? "" : asked.tenant().value();
        List<String> found = database.run(config.statementTimeout(), tx -> {
            List<String> ids = new ArrayList<>();
            for (Row row : tx.run("select id from tenant where $1 = '' or id = $1 order by id", only)) {
                ids.add(row.getString("id"));
            }
            return ids;
        });
        if (!only.isEmpty() && found.isEmpty()) {
            throw ProblemException.invalid("tenant", "there is no such tenant", "the id of a tenant");
        }
        return found;
    }
}
