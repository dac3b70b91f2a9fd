package io.quartermaster.capacity.inventory;

import io.quartermaster.platform.EnumNames;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.Row;
import io.vertx.mutiny.sqlclient.SqlConnection;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The table {@code cluster}; its queries skip retired clusters. */
@ApplicationScoped
class ClusterStore {

    private static final String COLUMNS = "id, name, kind, region, version, created_at";

    Uni<Optional<ClusterApi.View>> find(SqlConnection connection, String name, RowLock rowLock) {
        return connection
                .preparedQuery(
                        "select " + COLUMNS + " from cluster where name = $1 and retired_at is null" + rowLock.clause())
                .execute(Tuple.of(name))
                .map(rows -> RowValues.optional(rows, ClusterStore::view));
    }

    Uni<List<ClusterApi.View>> list(
            SqlConnection connection, @Nullable ClusterKind kind, @Nullable String region, String after, int max) {
        return connection
                .preparedQuery("select " + COLUMNS + " from cluster where retired_at is null and name > $1"
                        + " and ($2::text is null or kind = $2) and ($3::text is null or region = $3) "
                        + "order by name limit $4")
                .execute(Tuple.of(after, kind == null ? null : EnumNames.of(kind), region, max))
                .map(rows -> RowValues.list(rows, ClusterStore::view));
    }

    Uni<ClusterApi.View> insert(SqlConnection connection, UUID id, String name, ClusterKind kind, String region) {
        return connection
                .preparedQuery(
                        "insert into cluster (id, name, kind, region) values ($1, $2, $3, $4) returning " + COLUMNS)
                .execute(Tuple.of(id, name, EnumNames.of(kind), region))
                .map(rows -> view(rows.iterator().next()));
    }

    Uni<ClusterApi.View> update(SqlConnection connection, UUID id, String region) {
        return connection
                .preparedQuery(
                        "update cluster set region = $2, version = version + 1 where id = $1 returning " + COLUMNS)
                .execute(Tuple.of(id, region))
                .map(rows -> view(rows.iterator().next()));
    }

    Uni<Void> retire(SqlConnection connection, UUID id) {
        return connection
                .preparedQuery("update cluster set retired_at = clock_timestamp(), version = version + 1 where id = $1")
                .execute(Tuple.of(id))
                .replaceWithVoid();
    }

    private static ClusterApi.View view(Row row) {
        return new ClusterApi.View(
                row.getUUID("id"),
                row.getString("name"),
                EnumNames.stored(ClusterKind.class, row.getString("kind")),
                row.getString("region"),
                row.getLong("version"),
                row.getOffsetDateTime("created_at").toInstant(),
                null);
    }
}
