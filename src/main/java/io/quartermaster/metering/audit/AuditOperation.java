package io.quartermaster.metering.audit;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.metering.MeteringConfig;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.operations.Operation;
import io.quartermaster.platform.operations.OperationHandler;
import io.quartermaster.platform.operations.OperationStore;
import io.smallrye.mutiny.Uni;
import io.smallrye.mutiny.infrastructure.Infrastructure;
import io.vertx.core.json.JsonObject;
import io.vertx.mutiny.sqlclient.SqlConnection;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * An audit as an operation. Its result is stored under the operation's id. If the process ends during an audit, another
 * process starts it again, which is safe because an audit changes nothing.
 */
@ApplicationScoped
class AuditOperation implements OperationHandler {

    static final String KIND = "audit-books";
    static final List<String> STEPS = List.of("audit");

    private final AuditService audits;
    private final SystemDatabase database;
    private final MeteringConfig config;
    private final ObjectMapper json;

    AuditOperation(AuditService audits, SystemDatabase database, MeteringConfig config, ObjectMapper json) {
        this.config = config;
        this.audits = audits;
        this.database = database;
        this.json = json;
    }

    @Override
    public String kind() {
        return KIND;
    }

    @Override
    public List<String> steps() {
        return STEPS;
    }

    @Override
    public Optional<Duration> retention() {
        return Optional.of(config.auditsKept());
    }

    @Override
    public Uni<Void> run(String step, OperationStore.Claim claim) {
        return Uni.createFrom()
                .item(() -> audits.audit(parse(claim.request(), AuditApi.Request.class)))
                .runSubscriptionOn(Infrastructure.getDefaultWorkerPool())
                .chain(result -> storeResult(claim.operation().id(), result));
    }

    private Uni<Void> storeResult(UUID id, AuditApi.View result) {
        return database.on(connection -> connection
                        .preparedQuery("insert into books_audit (id, found) values ($1, $2) on conflict (id) do update "
                                + "set found = excluded.found, at = excluded.at")
                        .execute(Tuple.of(id, new JsonObject(write(result)))))
                .replaceWithVoid();
    }

    /** The result of an audit; empty when there is no such audit or it has not ended. */
    Uni<Optional<AuditApi.View>> findResult(UUID id) {
        return database.on(connection -> connection
                        .preparedQuery("select found from books_audit where id = $1")
                        .execute(Tuple.of(id)))
                .map(rows -> rows.rowCount() == 0
                        ? Optional.empty()
                        : Optional.of(parse(
                                rows.iterator().next().getJsonObject("found").encode(), AuditApi.View.class)));
    }

    @Override
    public Uni<Void> onGivenUp(SqlConnection connection, Operation operation) {
        return Uni.createFrom().voidItem();
    }

    private <T> T parse(String text, Class<T> type) {
        try {
            return json.readValue(text, type);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("cannot read the result of an audit", e);
        }
    }

    private String write(Object value) {
        try {
            return json.writeValueAsString(value);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("cannot write the result of an audit as JSON", e);
        }
    }
}
