package io.quartermaster.tenancy;

import io.quartermaster.platform.EnumNames;
import io.quartermaster.platform.TenantId;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.Row;
import io.vertx.mutiny.sqlclient.RowSet;
import io.vertx.mutiny.sqlclient.SqlConnection;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The table {@code tenant}, as the system role. */
@ApplicationScoped
class TenantStore {

    /** Inserts a tenant; false if it exists already. */
    Uni<Boolean> insert(SqlConnection connection, TenantSpec spec, String issuer) {
        return connection
                .preparedQuery("insert into tenant (id, display_name, plan, realm, issuer, state) values ($1, $2, $3, "
                        + "$1, $4, 'provisioning') on conflict (id) do nothing")
                .execute(Tuple.of(spec.id().value(), spec.displayName(), spec.plan(), issuer))
                .map(rows -> rows.rowCount() == 1);
    }

    /** Reads a tenant and locks it until the end of the transaction. */
    Uni<Optional<Tenant>> lock(SqlConnection connection, TenantId id) {
        return connection
                .preparedQuery("select " + Tenant.COLUMNS + " from tenant where id = $1 for update")
                .execute(Tuple.of(id.value()))
                .map(TenantStore::first);
    }

    Uni<Optional<Tenant>> find(SqlConnection connection, TenantId id) {
        return connection
                .preparedQuery("select " + Tenant.COLUMNS + " from tenant where id = $1")
                .execute(Tuple.of(id.value()))
                .map(TenantStore::first);
    }

    Uni<List<Tenant>> list(SqlConnection connection, @Nullable TenantState state, String after, int max) {
        return connection
                .preparedQuery("select " + Tenant.COLUMNS
                        + " from tenant where id > $1 and ($2::text is null or state = $2) order by id limit $3")
                .execute(Tuple.of(after, state == null ? null : EnumNames.of(state), max))
                .map(rows -> {
                    List<Tenant> tenants = new ArrayList<>();
                    rows.forEach(row -> tenants.add(Tenant.of(row)));
                    return tenants;
                });
    }

    Uni<Tenant> update(SqlConnection connection, Tenant tenant) {
        return connection
                .preparedQuery("update tenant set display_name = $2, state = $3, version = version + 1, updated_at = "
                        + "clock_timestamp() where id = $1 returning "
                        + Tenant.COLUMNS)
                .execute(Tuple.of(tenant.id().value(), tenant.displayName(), EnumNames.of(tenant.state())))
                .map(rows -> first(rows).orElseThrow());
    }

    /** Changes the state of the tenant; false if it is not in the state {@code from}. */
    Uni<Boolean> move(SqlConnection connection, TenantId id, TenantState from, TenantState to) {
        return connection
                .preparedQuery("update tenant set state = $3, version = version + 1, updated_at = clock_timestamp() "
                        + "where id = $1 and state = $2")
                .execute(Tuple.of(id.value(), EnumNames.of(from), EnumNames.of(to)))
                .map(rows -> rows.rowCount() == 1);
    }

    private static Optional<Tenant> first(RowSet<Row> rows) {
        for (Row row : rows) {
            return Optional.of(Tenant.of(row));
        }
        return Optional.empty();
    }
}
