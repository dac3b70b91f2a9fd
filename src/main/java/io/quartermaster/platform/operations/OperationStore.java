package io.quartermaster.platform.operations;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.platform.EnumNames;
import io.quartermaster.platform.Ids;
import io.quartermaster.platform.TenantId;
import io.smallrye.mutiny.Uni;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.mutiny.sqlclient.Row;
import io.vertx.mutiny.sqlclient.RowSet;
import io.vertx.mutiny.sqlclient.SqlConnection;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The table {@code operation}, as the system role. The process that works on an operation owns it for a limited time,
 * by the database's clock; only the owner can write to it.
 */
@ApplicationScoped
public class OperationStore {

    /** An operation with its request, as JSON. */
    public record Claim(Operation operation, String request) {}

    private static final String COLUMNS =
            "id, tenant_id, kind, state, request, steps, error, attempts, created_at, updated_at";
    private static final TypeReference<List<Operation.Step>> STEPS = new TypeReference<>() {};

    private final ObjectMapper json;

    OperationStore(ObjectMapper json) {
        this.json = json;
    }

    /** Stores a new operation, which the runner then finds. */
    public Uni<Operation> insert(
            SqlConnection connection, TenantId tenant, String kind, Object request, List<String> steps) {
        List<Operation.Step> pending =
                steps.stream().map(Operation.Step::pending).toList();
        return connection
                .preparedQuery("insert into operation (id, tenant_id, kind, state, request, steps) values ($1, $2, $3, "
                        + "'pending', $4, $5) returning "
                        + COLUMNS)
                .execute(Tuple.tuple()
                        .addUUID(Ids.next())
                        .addString(tenant.value())
                        .addString(kind)
                        .addValue(new JsonObject(write(request)))
                        .addValue(new JsonArray(write(pending))))
                .map(rows -> read(rows.iterator().next()));
    }

    /** The tenant's last operation of a kind. */
    public Uni<Optional<Claim>> last(SqlConnection connection, TenantId tenant, String kind) {
        return connection
                .preparedQuery("select " + COLUMNS
                        + " from operation where tenant_id = $1 and kind = $2 order by id desc limit 1")
                .execute(Tuple.of(tenant.value(), kind))
                .map(this::firstClaim);
    }

    /** Restarts a failed operation; completed steps stay completed. */
    public Uni<Operation> restart(SqlConnection connection, UUID id) {
        return connection
                .preparedQuery("update operation set state = 'pending', attempts = 0, not_before = clock_timestamp(), "
                        + "updated_at = clock_timestamp() where id = $1 returning "
                        + COLUMNS)
                .execute(Tuple.of(id))
                .map(rows -> read(rows.iterator().next()));
    }

    /**
     * Ends an unfinished operation: its next step never starts. A step that is running now runs to its end, and its
     * process keeps the lease until then; {@link #isOwned} returns whether that is the case.
     *
     * @param why the failure that the operation shows
     */
    public Uni<Void> cancel(SqlConnection connection, Operation operation, String why) {
        Operation.Failure failure = new Operation.Failure(operation.nextStep(), why, null);
        return connection
                .preparedQuery(
                        "update operation set state = 'failed', error = $2, updated_at = clock_timestamp() where "
                                + "id = $1 and state in ('pending', 'running')")
                .execute(Tuple.of(operation.id(), new JsonObject(write(failure))))
                .replaceWithVoid();
    }

    /** Whether a process works on the tenant's last operation of a kind, or did until less than a lease ago. */
    public Uni<Boolean> isOwned(SqlConnection connection, TenantId tenant, String kind) {
        return connection
                .preparedQuery(
                        "select owner_until > clock_timestamp() as owned from operation where tenant_id = $1 and "
                                + "kind = $2 order by id desc limit 1")
                .execute(Tuple.of(tenant.value(), kind))
                .map(rows -> rows.size() > 0 && rows.iterator().next().getBoolean("owned"));
    }

    /** The number of unfinished operations of a kind. */
    public Uni<Long> open(SqlConnection connection, String kind) {
        return connection
                .preparedQuery(
                        "select count(*) as open from operation where kind = $1 and state in ('pending', 'running')")
                .execute(Tuple.of(kind))
                .map(rows -> rows.iterator().next().getLong("open"));
    }

    public Uni<Optional<Operation>> find(SqlConnection connection, UUID id) {
        return connection
                .preparedQuery("select " + COLUMNS + " from operation where id = $1")
                .execute(Tuple.of(id))
                .map(rows -> firstClaim(rows).map(Claim::operation));
    }

    /**
     * Operations, the newest first.
     *
     * @param after only those before this one in the list
     * @param state only those in this state
     */
    public Uni<List<Operation>> list(
            SqlConnection connection,
            @Nullable String tenant,
            @Nullable String kind,
            Operation.@Nullable State state,
            Optional<UUID> after,
            int max) {
        return connection
                .preparedQuery("select " + COLUMNS + " from operation where ($1::uuid is null or id < $1)"
                        + " and ($2::text is null or tenant_id = $2) and ($3::text is null or kind = $3)"
                        + " and ($4::text is null or state = $4) order by id desc limit $5")
                .execute(Tuple.from(new @Nullable Object[] {
                    after.orElse(null), tenant, kind, state == null ? null : EnumNames.of(state), max
                }))
                .map(rows -> {
                    List<Operation> found = new ArrayList<>();
                    rows.forEach(row -> found.add(read(row)));
                    return found;
                });
    }

    /** Claims the oldest operation that is due and has no owner. */
    Uni<Optional<Claim>> claim(SqlConnection connection, String owner, Duration lease) {
        return connection
                .preparedQuery("update operation set owner = $1, owner_until = clock_timestamp() + $2 * interval '1 "
                        + "millisecond', state = 'running' where id = (select id from operation where state in "
                        + "('pending', 'running') and not_before <= clock_timestamp() and owner_until < "
                        + "clock_timestamp() order by not_before, id limit 1 for update skip locked) returning "
                        + COLUMNS)
                .execute(Tuple.of(owner, lease.toMillis()))
                .map(this::firstClaim);
    }

    Uni<Void> renew(SqlConnection connection, String owner, Collection<UUID> ids, Duration lease) {
        return connection
                .preparedQuery("update operation set owner_until = clock_timestamp() + $3 * interval '1 millisecond' "
                        + "where owner = $1 and id = any($2)")
                .execute(Tuple.of(owner, ids.toArray(UUID[]::new), lease.toMillis()))
                .replaceWithVoid();
    }

    /**
     * Stores the progress of an operation. Writes nothing and returns false if the caller is no longer its owner, or it
     * has ended.
     */
    Uni<Boolean> save(SqlConnection connection, String owner, Operation operation) {
        return connection
                .preparedQuery(
                        "update operation set steps = $3, updated_at = clock_timestamp() where id = $1 and owner "
                                + "= $2 and state = 'running' and owner_until > clock_timestamp()")
                .execute(Tuple.of(operation.id(), owner, new JsonArray(write(operation.steps()))))
                .map(rows -> rows.rowCount() == 1);
    }

    /**
     * Stores an operation and releases its lease: it has ended, or is retried after {@code wait}. Writes nothing for an
     * operation that was cancelled meanwhile.
     */
    Uni<Boolean> release(
            SqlConnection connection,
            String owner,
            Operation operation,
            Operation.State state,
            Operation.@Nullable Failure error,
            int attempts,
            Duration wait) {
        return connection
                .preparedQuery("update operation set state = $3, steps = $4, error = $5, attempts = $6, not_before = "
                        + "clock_timestamp() + $7 * interval '1 millisecond', owner = null, owner_until = "
                        + "'-infinity', updated_at = clock_timestamp() where id = $1 and owner = $2 and state = "
                        + "'running'")
                .execute(Tuple.tuple()
                        .addUUID(operation.id())
                        .addString(owner)
                        .addString(EnumNames.of(state))
                        .addValue(new JsonArray(write(operation.steps())))
                        .addValue(error == null ? null : new JsonObject(write(error)))
                        .addInteger(attempts)
                        .addLong(wait.toMillis()))
                .map(rows -> rows.rowCount() == 1);
    }

    private Optional<Claim> firstClaim(RowSet<Row> rows) {
        for (Row row : rows) {
            return Optional.of(new Claim(read(row), row.getJsonObject("request").encode()));
        }
        return Optional.empty();
    }

    private Operation read(Row row) {
        JsonObject error = row.getJsonObject("error");
        return new Operation(
                row.getUUID("id"),
                new TenantId(row.getString("tenant_id")),
                row.getString("kind"),
                EnumNames.stored(Operation.State.class, row.getString("state")),
                steps(row.getJsonArray("steps").encode()),
                error == null ? null : parse(error.encode(), Operation.Failure.class),
                row.getInteger("attempts"),
                row.getOffsetDateTime("created_at").toInstant(),
                row.getOffsetDateTime("updated_at").toInstant());
    }

    private List<Operation.Step> steps(String text) {
        try {
            return new ArrayList<>(json.readValue(text, STEPS));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("the steps of an operation cannot be read", e);
        }
    }

    private <T> T parse(String text, Class<T> type) {
        try {
            return json.readValue(text, type);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("an operation cannot be read", e);
        }
    }

    private String write(Object value) {
        try {
            return json.writeValueAsString(value);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("an operation cannot be written as JSON", e);
        }
    }
}
