package io.quartermaster.governance;

import io.quartermaster.governance.rules.Queue;
import io.quartermaster.platform.TenantId;
import io.smallrye.mutiny.Uni;
import java.util.List;
import org.hibernate.reactive.mutiny.Mutiny;

/**
 * The check that a queue accepts waiting work of other queues. Work that moves into a queue passes the same checks as a
 * submission.
 */
public interface WaitingMoveGuard {

    /**
     * Fails with a problem about {@code moveTo} where the target does not accept all work that waits in the sources.
     */
    Uni<Void> check(Mutiny.Session session, TenantId tenant, List<Queue> sources, Queue target);
}
