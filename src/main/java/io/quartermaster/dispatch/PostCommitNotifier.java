package io.quartermaster.dispatch;

import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.inbox.Wakeups;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/** What is told after a commit: agents that what should run on them changed, live views that there is news. Hints, all of them. */
@ApplicationScoped
class PostCommitNotifier {

    private final Wakeups wakeups;

    PostCommitNotifier(Wakeups wakeups) {
        this.wakeups = wakeups;
    }

    void after(Set<UUID> touchedNodes, Set<TenantId> fedTenants) {
        List<Uni<Void>> sends = new ArrayList<>();
        for (UUID node : touchedNodes) {
            sends.add(wakeups.publish(Wakeups.node(node.toString())));
        }
        for (TenantId tenant : fedTenants) {
            sends.add(wakeups.publish(Wakeups.feed(tenant)));
        }
        sends.forEach(send -> send.subscribe().with(done -> {}));
    }
}
