package io.quartermaster.governance;

import io.quartermaster.governance.rules.Queue;
import io.quartermaster.platform.TenantId;
import io.smallrye.mutiny.Uni;
import java.util.List;
import org.hibernate.reactive.mutiny.Mutiny;

/** Whether a queue takes waiting work of other queues: what it checks of submissions holds for work that is moved into it, too. */
public interface WaitingMoveGuard {

    /** Fails with a problem about {@code moveTo} where the target does not take all that waits in the sources. */
    Uni<Void> check(Mutiny.Session session, TenantId tenant, List<Queue> sources, Queue target);
}
