package io.quartermaster.tenancy.origins;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.access.Caller;
import io.quartermaster.access.audit.AuditLog;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.TenantTransactions;
import io.quartermaster.platform.db.WriteMode;
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

/** Shows and replaces the origins that a tenant allows. */
@ApplicationScoped
class AllowedOriginsService {

    private static final TypeReference<List<String>> TEXTS = new TypeReference<>() {};

    private final TenantTransactions transactions;
    private final TenantWrites tenantWrites;
    private final AuditLog audit;
    private final OriginDirectory directory;
    private final ObjectMapper json;

    AllowedOriginsService(
            TenantTransactions transactions,
            TenantWrites tenantWrites,
            AuditLog audit,
            OriginDirectory directory,
            ObjectMapper json) {
        this.transactions = transactions;
        this.tenantWrites = tenantWrites;
        this.audit = audit;
        this.directory = directory;
        this.json = json;
    }

    Uni<Response> get(TenantId tenant) {
        return transactions
                .in(tenant, session -> find(session, tenant))
                .map(found -> TenantWrites.response(WriteReply.ok(found, found.version())));
    }

    Uni<Response> replace(
            TenantId tenant, Caller caller, UriInfo uri, WriteParams params, AllowedOrigins.@Nullable Request body) {
        List<String> asked = AllowedOrigins.validate(body);
        return tenantWrites
                .run(tenant, caller.subject(), uri, params, body, session -> find(session, tenant)
                        .chain(before -> {
                            params.requireVersion(before.version());
                            return before.origins().equals(asked)
                                    ? Uni.createFrom().item(before)
                                    : replace(session, tenant, caller, before, asked);
                        })
                        .map(now -> WriteReply.ok(now, now.version())))
                .call(() -> params.mode() == WriteMode.COMMIT
                        ? directory.reload()
                        : Uni.createFrom().voidItem());
    }

    private Uni<AllowedOrigins> replace(
            Mutiny.Session session, TenantId tenant, Caller caller, AllowedOrigins before, List<String> asked) {
        AllowedOrigins now = new AllowedOrigins(asked, before.version() + 1);
        return session.createNativeQuery("insert into allowed_origins (tenant_id, origins, version) values (:tenant, "
                        + "cast(cast(:origins as text) as jsonb), :version) on conflict (tenant_id) do update set "
                        + "origins = excluded.origins, version = excluded.version, updated_at = "
                        + "excluded.updated_at where allowed_origins.version = excluded.version - 1")
                .setParameter("tenant", tenant.value())
                .setParameter("origins", write(asked))
                .setParameter("version", now.version())
                .executeUpdate()
                .invoke(written -> {
                    if (written == 0) {
                        throw ProblemException.of(
                                412, "precondition-failed", "Another request changed the origins. Read them again.");
                    }
                })
                .chain(() -> audit.record(
                        session,
                        tenant,
                        caller,
                        new AuditLog.Change("origins:replace", "allowed-origins", before, now)))
                .replaceWith(now);
    }

    private Uni<AllowedOrigins> find(Mutiny.Session session, TenantId tenant) {
        return session.createNativeQuery(
                        "select cast(origins as text), version from allowed_origins where tenant_id = :tenant",
                        Object[].class)
                .setParameter("tenant", tenant.value())
                .getSingleResultOrNull()
                .map(row -> row == null
                        ? new AllowedOrigins(List.of(), 0)
                        : new AllowedOrigins(read((String) row[0]), ((Number) row[1]).longValue()));
    }

    private List<String> read(String text) {
        try {
            return json.readValue(text, TEXTS);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("stored origins cannot be read", e);
        }
    }

    private String write(List<String> origins) {
        try {
            return json.writeValueAsString(origins);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("texts can be written as JSON", e);
        }
    }
}
