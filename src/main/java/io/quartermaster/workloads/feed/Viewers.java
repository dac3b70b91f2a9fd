package io.quartermaster.workloads.feed;

import io.quartermaster.access.Caller;
import io.quartermaster.access.LiveRights;
import io.quartermaster.access.Permission;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.tenancy.groups.RealmUsers;
import io.quartermaster.workloads.WorkloadsConfig;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The open live views of this replica, of the feed and of logs: their number per tenant, and their rights. */
@ApplicationScoped
public class Viewers {

    private static final Duration LONGEST = Duration.ofMinutes(15);
    /** If Keycloak does not confirm within this time whether the caller exists, the view continues. */
    private static final Duration KEYCLOAK_PATIENCE = Duration.ofSeconds(5);

    private final WorkloadsConfig config;
    private final LiveRights rights;
    private final RealmUsers users;
    private final Map<TenantId, Integer> open = new ConcurrentHashMap<>();

    Viewers(WorkloadsConfig config, LiveRights rights, RealmUsers users) {
        this.config = config;
        this.rights = rights;
        this.users = users;
    }

    /** @param tokenExpiry when the viewer's right to the view ends, unless it presents a newer token */
    public record Viewer(Caller caller, Instant tokenExpiry) {

        /** How long the view may last from now. */
        public Duration longest() {
            Duration left = Duration.between(Instant.now(), tokenExpiry);
            return left.compareTo(LONGEST) > 0 ? LONGEST : left.isPositive() ? left : Duration.ofMillis(1);
        }
    }

    /** Whether the caller still exists and may still read workloads. */
    public Uni<Boolean> isEntitled(Caller caller, TenantId tenant) {
        return rights.mayRead(caller, tenant, Permission.WORKLOADS_READ)
                .chain(may -> may
                        ? users.exists(caller, KEYCLOAK_PATIENCE).onFailure().recoverWithItem(true)
                        : Uni.createFrom().item(false));
    }

    /** Counts a view that begins. Fails with 429 if the tenant has too many. */
    public void enter(TenantId tenant) {
        int max = config.watchersPerTenant();
        int now = open.merge(tenant, 1, Integer::sum);
        if (now > max) {
            leave(tenant);
            throw ProblemException.of(
                    429,
                    "too-many-watches",
                    "a tenant may keep " + max + " live views open on one replica; close one first");
        }
    }

    public void leave(TenantId tenant) {
        open.computeIfPresent(tenant, (id, count) -> count == 1 ? null : count - 1);
    }
}
