package io.quartermaster.platform.operations;

import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.SqlConnection;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * A kind of long-running work. A request begins it with {@link OperationStore#insert} in its transaction and answers
 * 202; the {@link OperationRunner} of some replica carries it out. The runner finds the beans of this type.
 */
public interface OperationHandler {

    /** Kebab-case and unique; stored with the operation. */
    String kind();

    /** Names of its steps, in order; kebab-case, shown in the operation and stored with it. */
    List<String> steps();

    /**
     * Carries out one step. It must be idempotent: it may run again after this or another process completed it, in full
     * or in part. It may take as long as it needs. It fails with a message that an operator can act on, and is retried
     * after a pause.
     */
    Uni<Void> run(String step, OperationStore.Claim claim);

    /** How long its ended operations are kept; empty for the default. */
    default Optional<Duration> retention() {
        return Optional.empty();
    }

    /** Runs in the transaction that stores that the operation has failed for good. */
    Uni<Void> onGivenUp(SqlConnection connection, Operation operation);
}
