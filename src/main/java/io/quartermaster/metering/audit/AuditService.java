package io.quartermaster.metering.audit;

import io.quartermaster.access.audit.AuditChain;
import io.quartermaster.access.audit.AuditLog;
import io.quartermaster.metering.MeteringConfig;
import io.quartermaster.metering.UsageWindow;
import io.quartermaster.platform.EnumNames;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.operations.OperationStore;
import io.quartermaster.platform.writes.OperatorWrites;
import io.quartermaster.platform.writes.WriteReply;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.Row;
import io.vertx.mutiny.sqlclient.SqlConnection;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Audits stored usage against its invariants. An audit only reads. */
@ApplicationScoped
public class AuditService {

    private static final int MAX_VIOLATIONS = 1_000;
    /** Audits take long, and share the workers of operations with others. */
    private static final int MAX_CONCURRENT_AUDITS = 2;

    private final SystemDatabase database;
    private final OperationStore operations;
    private final MeteringConfig config;

    public AuditService(SystemDatabase database, OperationStore operations, MeteringConfig config) {
        this.database = database;
        this.operations = operations;
        this.config = config;
    }

    /** Creates an audit, which the worker of operations then runs. */
    Uni<WriteReply> create(SqlConnection connection, AuditApi.@Nullable Request request) {
        AuditApi.Request effective = request == null ? new AuditApi.Request(null, null, null) : request;
        window(effective);
        return requireTenant(connection, effective)
                .chain(() -> operations.open(connection, AuditOperation.KIND))
                .invoke(open -> {
                    if (open >= MAX_CONCURRENT_AUDITS) {
                        throw ProblemException.conflict(
                                "audits-running", open + " audits are still running; wait until one of them ends");
                    }
                })
                .chain(() -> operations.insert(
                        connection,
                        new TenantId(OperatorWrites.OPERATOR),
                        AuditOperation.KIND,
                        effective,
                        AuditOperation.STEPS))
                .map(operation -> WriteReply.accepted("/v1/operator/operations/" + operation.id(), operation));
    }

    /** Runs an audit; blocks until it ends. */
    public AuditApi.View audit(AuditApi.Request request) {
        UsageWindow usageWindow = window(request);
        List<AuditApi.Books> books = new ArrayList<>();
        List<AuditApi.Violation> violations =
                new ArrayList<>(database.run(config.statementTimeout(), AllocationAudit::auditDevices));
        List<AuditApi.Violation> warnings = new ArrayList<>();
        if (request.tenant() == null) {
            checkAuditEntries(AuditLog.OPERATOR, violations, warnings);
        }
        for (String tenant : tenants(request)) {
            var audit = new BookAudit(database, config, new io.quartermaster.ledger.TenantKey(tenant));
            audit.run(usageWindow);
            books.add(audit.books());
            violations.addAll(audit.violations());
            violations.addAll(database.run(
                    config.statementTimeout(), tx -> AllocationAudit.auditTenant(tx, tenant, usageWindow)));
            if (request.to() == null) {
                StateAudit.Findings now =
                        database.run(config.statementTimeout(), tx -> StateAudit.auditTenant(tx, tenant));
                violations.addAll(now.violations());
                warnings.addAll(now.warnings());
            }
            checkAuditEntries(new TenantId(tenant), violations, warnings);
        }
        return new AuditApi.View(violations.isEmpty(), books, truncate(violations), truncate(warnings));
    }

    private static List<AuditApi.Violation> truncate(List<AuditApi.Violation> found) {
        return found.subList(0, Math.min(found.size(), MAX_VIOLATIONS));
    }

    private void checkAuditEntries(
            TenantId tenant, List<AuditApi.Violation> violations, List<AuditApi.Violation> warnings) {
        database.run(config.statementTimeout(), tx -> {
            AuditChain.verify(tx, tenant)
                    .ifPresent(broken -> violations.add(new AuditApi.Violation(
                            tenant.value(),
                            "audit-entries-chain",
                            "audit entry " + broken.number() + " (" + broken.entry() + ")",
                            null,
                            "as it was sealed",
                            EnumNames.of(broken.fault()))));
            long unsealed = AuditChain.countOverdue(tx, tenant);
            if (unsealed > 0) {
                warnings.add(new AuditApi.Violation(
                        tenant.value(),
                        "audit-entries-are-sealed",
                        "audit entries",
                        null,
                        "sealed within 10 minutes",
                        unsealed + " unsealed"));
            }
            return true;
        });
    }

    private static UsageWindow window(AuditApi.Request request) {
        long from = request.from() == null ? 0 : request.from().toEpochMilli();
        // Later than any stamp, so that the audit includes an event of this very moment.
        long to = request.to() == null
                ? Instant.now().plusSeconds(60).toEpochMilli()
                : request.to().toEpochMilli();
        if (from < 0 || from > to) {
            throw ProblemException.invalid(
                    "from", "is not before the end of the window", ProblemException.Invalid.TIME_ACCEPTED);
        }
        return new UsageWindow(from, to);
    }

    private static Uni<Void> requireTenant(SqlConnection connection, AuditApi.Request request) {
        TenantId only = request.tenant();
        return only == null
                ? Uni.createFrom().voidItem()
                : connection
                        .preparedQuery("select 1 from tenant where id = $1")
                        .execute(Tuple.of(only.value()))
                        .invoke(rows -> {
                            if (rows.size() == 0) {
                                throw ProblemException.invalid(
                                        "tenant", "there is no such tenant", "the id of a tenant");
                            }
                        })
                        .replaceWithVoid();
    }

    private List<String> tenants(AuditApi.Request request) {
        String only = request.tenant() == null ? "" : request.tenant().value();
        return database.run(config.statementTimeout(), tx -> {
            List<String> ids = new ArrayList<>();
            for (Row row : tx.run("select id from tenant where $1 = '' or id = $1 order by id", only)) {
                ids.add(row.getString("id"));
            }
            return ids;
        });
    }
}
