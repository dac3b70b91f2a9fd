package io.quartermaster.access.audit;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.TenantTransactions;
import io.quartermaster.platform.http.Page;
import io.quartermaster.platform.http.PageRequest;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Reads the audit log of one tenant, newest first, as the request role. It also reads the operator's own entries, which
 * are stored under a name that no tenant can have. An entry that another replica writes at the same moment may appear
 * after one that was read before.
 */
@ApplicationScoped
class AuditEntryReader {

    private static final String ENTRY =
            "select cast(jsonb_build_object('id', id, 'at', at, 'actor', actor, 'actorRealm', actor_realm, "
                    + "'action', action, 'resource', resource, 'before', before, 'after', after, 'requestId', request_id, "
                    + "'formatVersion', format, 'sequence', seq, 'hash', encode(hash, 'hex'), 'previousHash', "
                    + "encode(prev_hash, 'hex')) as text) from audit_entry where tenant_id = :tenant";

    private final TenantTransactions transactions;
    private final ObjectMapper json;

    AuditEntryReader(TenantTransactions transactions, ObjectMapper json) {
        this.transactions = transactions;
        this.json = json;
    }

    Uni<Page<AuditEntryApi.View>> list(TenantId tenant, AuditEntryApi.Filter filter, PageRequest page) {
        String scope = tenant + " audit-entries " + filter;
        int size = page.size();
        Map<String, Object> values = new LinkedHashMap<>();
        StringBuilder sql = new StringBuilder(ENTRY);
        values.put("tenant", tenant.value());
        page.afterId(scope).ifPresent(last -> {
            sql.append(" and id < cast(cast(:after as text) as uuid)");
            values.put("after", last.toString());
        });
        filter.actor().ifPresent(actor -> {
            sql.append(" and actor = :actor");
            values.put("actor", actor);
        });
        filter.action().ifPresent(action -> {
            sql.append(" and action = :action");
            values.put("action", action);
        });
        filter.resource().ifPresent(resource -> {
            sql.append(" and (resource = :resource or starts_with(resource, :below))");
            values.put("resource", resource);
            values.put("below", resource + "/");
        });
        filter.from().ifPresent(from -> {
            sql.append(" and at >= cast(cast(:from as text) as timestamptz)");
            values.put("from", from.toString());
        });
        filter.to().ifPresent(to -> {
            sql.append(" and at < cast(cast(:to as text) as timestamptz)");
            values.put("to", to.toString());
        });
        return transactions
                .in(tenant, session -> {
                    var query = session.createNativeQuery(sql + " order by id desc", String.class);
                    values.forEach(query::setParameter);
                    return query.setMaxResults(size + 1).getResultList();
                })
                .map(found -> Page.of(found.stream().map(this::read).toList(), size, scope, entry -> entry.id()
                        .toString()));
    }

    private AuditEntryApi.View read(String text) {
        try {
            return json.readValue(text, AuditEntryApi.View.class);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a stored audit entry cannot be read", e);
        }
    }
}
