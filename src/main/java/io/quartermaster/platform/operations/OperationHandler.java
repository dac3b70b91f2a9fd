package io.quartermaster.platform.operations;

import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.SqlConnection;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * A kind of long work, which a request begins and answers 202 for: {@link OperationStore#insert} in the request's transaction, and the
 * {@link OperationRunner} of some replica does it. Beans of this type are found by themselves.
 */
public interface OperationHandler {

    /** Kebab-case and unique; stored with the operation. */
    String kind();

    /** Names of its steps, in order; kebab-case, shown in the operation and stored with it. */
    List<String> steps();

    /**
     * Does one step. It may run again after it was done, or half done, by this process or another: it makes sure that something is so. It
     * may take as long as it needs. Where it fails, with a message that an operator can act on, it is tried again after a while.
     */
    Uni<Void> run(String step, OperationStore.Claim claim);

    /** How long its operations can be read once they are over; empty for as long as most. */
    default Optional<Duration> kept() {
        return Optional.empty();
    }

    /** In the transaction that notes that the operation has failed for good. */
    Uni<Void> gaveUp(SqlConnection connection, Operation operation);
}
