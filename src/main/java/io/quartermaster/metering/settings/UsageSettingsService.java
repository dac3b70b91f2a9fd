package io.quartermaster.metering.settings;

import io.quartermaster.access.Caller;
import io.quartermaster.access.audit.AuditLog;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.TenantTransactions;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.writes.TenantWrites;
import io.quartermaster.platform.writes.WriteParams;
import io.quartermaster.platform.writes.WriteReply;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.util.List;
import org.hibernate.reactive.mutiny.Mutiny;
import org.jspecify.annotations.Nullable;

/** Shows and replaces what a tenant states about its usage. */
@ApplicationScoped
class UsageSettingsService {

    /** Keys have no comma. */
    private static final String SEPARATOR = ",";

    private final TenantTransactions transactions;
    private final TenantWrites tenantWrites;
    private final AuditLog audit;

    UsageSettingsService(TenantTransactions transactions, TenantWrites tenantWrites, AuditLog audit) {
        this.transactions = transactions;
        this.tenantWrites = tenantWrites;
        this.audit = audit;
    }

    Uni<Response> get(TenantId tenant) {
        return transactions
                .in(tenant, session -> find(session, tenant))
                .map(found -> TenantWrites.response(WriteReply.ok(found, found.version())));
    }

    Uni<Response> replace(
            TenantId tenant, Caller caller, UriInfo uri, WriteParams params, UsageSettings.@Nullable Request body) {
        // What can be checked without the stored settings is checked before anything is read.
        UsageSettings.NONE.replaced(body);
        return tenantWrites.run(tenant, caller.subject(), uri, params, body, session -> find(session, tenant)
                .chain(before -> {
                    params.requireVersion(before.version());
                    UsageSettings now = before.replaced(body);
                    return now.equals(before)
                            ? Uni.createFrom().item(before)
                            : replace(session, tenant, caller, before, now);
                })
                .map(now -> WriteReply.ok(now, now.version())));
    }

    private Uni<UsageSettings> replace(
            Mutiny.Session session, TenantId tenant, Caller caller, UsageSettings before, UsageSettings now) {
        return session.createNativeQuery("insert into usage_settings (tenant_id, label_keys, earlier_label_keys, "
                        + "time_zone, version) values (:tenant, string_to_array(:keys, ','), "
                        + "string_to_array(:earlier, ','), :zone, :version) on conflict (tenant_id) do update set "
                        + "label_keys = excluded.label_keys, earlier_label_keys = excluded.earlier_label_keys, "
                        + "time_zone = excluded.time_zone, version = excluded.version, updated_at = "
                        + "excluded.updated_at where usage_settings.version = excluded.version - 1")
                .setParameter("tenant", tenant.value())
                .setParameter("keys", String.join(SEPARATOR, now.labelKeys()))
                .setParameter("earlier", String.join(SEPARATOR, now.earlierLabelKeys()))
                .setParameter("zone", now.timeZone())
                .setParameter("version", now.version())
                .executeUpdate()
                .invoke(written -> {
                    if (written == 0) {
                        throw ProblemException.of(
                                412,
                                "precondition-failed",
                                "Another request changed the usage settings. Read them again.");
                    }
                })
                .chain(() -> audit.record(
                        session,
                        tenant,
                        caller,
                        new AuditLog.Change("usage-settings:replace", "usage-settings", before, now)))
                .replaceWith(now);
    }

    private Uni<UsageSettings> find(Mutiny.Session session, TenantId tenant) {
        return session.createNativeQuery(
                        "select array_to_string(label_keys, ','), array_to_string(earlier_label_keys, ','), "
                                + "time_zone, version from usage_settings where tenant_id = :tenant",
                        Object[].class)
                .setParameter("tenant", tenant.value())
                .getSingleResultOrNull()
                .map(row -> row == null
                        ? UsageSettings.NONE
                        : new UsageSettings(
                                keys((String) row[0]),
                                keys((String) row[1]),
                                (String) row[2],
                                ((Number) row[3]).longValue()));
    }

    private static List<String> keys(String text) {
        return text.isEmpty() ? List.of() : List.of(text.split(SEPARATOR));
    }
}
