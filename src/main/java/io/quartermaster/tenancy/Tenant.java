package io.quartermaster.tenancy;

import io.quartermaster.platform.EnumNames;
import io.quartermaster.platform.TenantId;
import io.vertx.mutiny.sqlclient.Row;
import java.time.Instant;

/** A customer, as its row describes it. {@code issuer} is the exact issuer of its tokens. */
public record Tenant(
        TenantId id,
        String displayName,
        String plan,
        TenantState state,
        String issuer,
        Instant createdAt,
        Instant updatedAt,
        long version) {

    static final String COLUMNS = "id, display_name, plan, state, issuer, created_at, updated_at, version";

    static Tenant of(Row row) {
        return new Tenant(
                new TenantId(row.getString("id")),
                row.getString("display_name"),
                row.getString("plan"),
                EnumNames.stored(TenantState.class, row.getString("state")),
                row.getString("issuer"),
                row.getOffsetDateTime("created_at").toInstant(),
                row.getOffsetDateTime("updated_at").toInstant(),
                row.getLong("version"));
    }
}
