package io.quartermaster.dispatch;

import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.inbox.Wakeups;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/**
 * Sends the notifications after a commit: to agents whose desired state changed, and to the live views of tenants. They
 * are only hints: a lost one does no harm.
 */
@ApplicationScoped
class PostCommitNotifier {

    private final Wakeups wakeups;

    PostCommitNotifier(Wakeups wakeups) {
        this.wakeups = wakeups;
    }

    void wakeReaders(Set<UUID> touchedNodes, Set<TenantId> fedTenants) {
        List<Uni<Void>> sends = new ArrayList<>();
        for (UUID node : touchedNodes) {
            sends.add(wakeups.publish(Wakeups.nodeChannel(node.toString())));
        }
        for (TenantId tenant : fedTenants) {
            sends.add(wakeups.publish(Wakeups.feedChannel(tenant)));
        }
        sends.forEach(send -> send.subscribe().with(done -> {}));
    }
}
