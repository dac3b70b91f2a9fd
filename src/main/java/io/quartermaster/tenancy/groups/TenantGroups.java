package io.quartermaster.tenancy.groups;

import io.quartermaster.access.CallerContextSwitch;
import io.quartermaster.access.GroupPath;
import io.quartermaster.access.keycloak.KeycloakAdmin;
import io.quartermaster.access.keycloak.KeycloakFailure;
import io.quartermaster.access.keycloak.KeycloakRealm;
import io.quartermaster.platform.SharedCall;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.OpenTransactions;
import io.quartermaster.tenancy.GroupList;
import io.quartermaster.tenancy.RealmAdmin;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The groups of a tenant's realm, asked of the realm each time.
 *
 * <p>A list of all groups takes many requests to Keycloak. At most one such list is read per tenant at a time, and a second one waits for it;
 * all requests that come meanwhile share the second. So each answer has all groups that were there when it was asked for, and a tenant
 * that lists its groups without end takes one request at a time from Keycloak.
 */
@ApplicationScoped
public class TenantGroups {

    /** The most groups that are listed. */
    static final int MOST = 10_000;
    /** Far fewer than fit into the time that a call to Keycloak may take. */
    private static final int ASKED_AT_ONCE = 50;

    private static final Logger LOG = Logger.getLogger(TenantGroups.class);

    private final KeycloakAdmin admin;
    /** Guarded by itself. */
    private final Map<TenantId, Lists> lists = new HashMap<>();

    /** The list that is read now, and the one that is read after it. */
    private record Lists(
            SharedCall<GroupList> current, @Nullable SharedCall<GroupList> next) {}

    TenantGroups(KeycloakAdmin admin) {
        this.admin = admin;
    }

    /** All groups, or the first {@link #MOST} in the order of their names. Fails where there is no such realm. */
    public Uni<GroupList> all(TenantId tenant) {
        return Uni.createFrom().deferred(() -> {
            OpenTransactions.requireNone("Keycloak");
            return CallerContextSwitch.resume(join(tenant).answer());
        });
    }

    private SharedCall<GroupList> join(TenantId tenant) {
        synchronized (lists) {
            Lists known = lists.get(tenant);
            if (known == null) {
                SharedCall<GroupList> only = new SharedCall<>(read(tenant));
                lists.put(tenant, new Lists(only, null));
                return only;
            }
            SharedCall<GroupList> next = known.next();
            if (next == null) {
                Uni<GroupList> before = known.current().answer();
                next = new SharedCall<>(before.onItemOrFailure().transformToUni((list, failure) -> read(tenant)));
                lists.put(tenant, new Lists(known.current(), next));
            }
            return next;
        }
    }

    /** On a thread of its own, since it belongs to none of the requests that share it. */
    private Uni<GroupList> read(TenantId tenant) {
        return admin.call(keycloak -> RealmAdmin.groups(keycloak.realm(tenant.value()), MOST))
                .onTermination()
                .invoke(() -> ended(tenant))
                .runSubscriptionOn(Thread::startVirtualThread);
    }

    private void ended(TenantId tenant) {
        synchronized (lists) {
            Lists known = lists.remove(tenant);
            if (known != null && known.next() != null) {
                lists.put(tenant, new Lists(known.next(), null));
            }
        }
    }

    /** Whether the realm has this group. Fails where there is no such realm. */
    Uni<Boolean> has(TenantId tenant, GroupPath group) {
        return admin.call(keycloak -> RealmAdmin.missing(keycloak.realm(tenant.value()), List.of(group))
                .isEmpty());
    }

    /**
     * What the realm lacks of a group and those above it.
     *
     * @param missing from the top
     * @param groups how many the realm has
     */
    record Lacking(List<GroupPath> missing, long groups) {}

    /** Fails where there is no such realm. */
    Uni<Lacking> lacking(TenantId tenant, GroupPath group) {
        return admin.call(keycloak -> {
            KeycloakRealm realm = keycloak.realm(tenant.value());
            return new Lacking(RealmAdmin.missing(realm, group.fromTheTop()), realm.groupCount());
        });
    }

    /** Whether the realm lacks this group; fails when Keycloak takes longer than the patience of who asks. */
    public Uni<Boolean> lacks(TenantId tenant, GroupPath group, Duration patience) {
        return admin.call(patience, keycloak -> !RealmAdmin.missing(keycloak.realm(tenant.value()), List.of(group))
                .isEmpty());
    }

    /** What the realm has and lacks of some groups. A group of which Keycloak does not say it is in neither set. */
    public record Presence(Set<GroupPath> present, Set<GroupPath> missing) {}

    /**
     * Which of these groups the realm has. One that Keycloak does not look for keeps none of the others from being found. Fails where Keycloak
     * answers for none of them, and where there is no such realm, which must not look like one without groups.
     */
    public Uni<Presence> presence(TenantId tenant, Set<GroupPath> asked) {
        List<GroupPath> all = asked.stream().sorted().toList();
        Presence presence = new Presence(new HashSet<>(), new HashSet<>());
        Uni<Presence> chain = Uni.createFrom().item(presence);
        // Written and read by one call after the other.
        List<KeycloakFailure> refusals = new ArrayList<>();
        for (int first = 0; first < all.size(); first += ASKED_AT_ONCE) {
            List<GroupPath> some = all.subList(first, Math.min(all.size(), first + ASKED_AT_ONCE));
            chain = chain.chain(() -> admin.call(keycloak -> {
                KeycloakRealm realm = keycloak.realm(tenant.value());
                realm.require();
                look(realm, tenant, some, presence, refusals);
                return presence;
            }));
        }
        return chain.invoke(() -> {
            if (!refusals.isEmpty() && refusals.size() == all.size()) {
                throw refusals.getLast();
            }
        });
    }

    private static void look(
            KeycloakRealm realm,
            TenantId tenant,
            List<GroupPath> some,
            Presence presence,
            List<KeycloakFailure> refusals) {
        for (GroupPath group : some) {
            try {
                (realm.group(group).isPresent() ? presence.present() : presence.missing()).add(group);
            } catch (KeycloakFailure e) {
                if (e.isAway()) {
                    throw e;
                }
                LOG.warnf("Keycloak does not say whether tenant %s has group %s: %s", tenant, group, e.getMessage());
                refusals.add(e);
            }
        }
    }
}
