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
 * The groups of a tenant's realm, read from Keycloak on each call.
 *
 * <p>A list of all groups takes many requests to Keycloak. At most one such list is read per tenant at a time, and a
 * second one waits for it; all requests that arrive meanwhile share the second. So each answer has all groups that
 * existed at the time of its request. A tenant that lists its groups without end causes one request to Keycloak at a
 * time.
 */
@ApplicationScoped
public class TenantGroups {

    /** The most groups in a list. */
    static final int MAX_GROUPS = 10_000;
    /** Far fewer than Keycloak can answer within the time limit of a call. */
    private static final int MAX_GROUPS_PER_CALL = 50;

    private static final Logger LOG = Logger.getLogger(TenantGroups.class);

    private final KeycloakAdmin admin;
    /** Guarded by its own monitor. */
    private final Map<TenantId, ActiveReads> activeReads = new HashMap<>();

    /** The list that is being read, and the one that is read after it. */
    private record ActiveReads(
            SharedCall<GroupList> current, @Nullable SharedCall<GroupList> next) {}

    TenantGroups(KeycloakAdmin admin) {
        this.admin = admin;
    }

    /** All groups, or the first {@link #MAX_GROUPS} in the order of their names. Fails if the realm does not exist. */
    public Uni<GroupList> list(TenantId tenant) {
        return Uni.createFrom().deferred(() -> {
            OpenTransactions.requireNone("Keycloak");
            return CallerContextSwitch.resume(joinRead(tenant).answer());
        });
    }

    private SharedCall<GroupList> joinRead(TenantId tenant) {
        synchronized (activeReads) {
            ActiveReads known = activeReads.get(tenant);
            if (known == null) {
                SharedCall<GroupList> only = new SharedCall<>(read(tenant));
                activeReads.put(tenant, new ActiveReads(only, null));
                return only;
            }
            SharedCall<GroupList> next = known.next();
            if (next == null) {
                Uni<GroupList> before = known.current().answer();
                next = new SharedCall<>(before.onItemOrFailure().transformToUni((list, failure) -> read(tenant)));
                activeReads.put(tenant, new ActiveReads(known.current(), next));
            }
            return next;
        }
    }

    /** Reads on its own thread, since the list belongs to none of the requests that share it. */
    private Uni<GroupList> read(TenantId tenant) {
        return admin.call(keycloak -> RealmAdmin.groups(keycloak.realm(tenant.value()), MAX_GROUPS))
                .onTermination()
                .invoke(() -> endRead(tenant))
                .runSubscriptionOn(Thread::startVirtualThread);
    }

    private void endRead(TenantId tenant) {
        synchronized (activeReads) {
            ActiveReads known = activeReads.remove(tenant);
            if (known != null && known.next() != null) {
                activeReads.put(tenant, new ActiveReads(known.next(), null));
            }
        }
    }

    /** Whether the realm has this group. Fails if the realm does not exist. */
    Uni<Boolean> exists(TenantId tenant, GroupPath group) {
        return admin.call(keycloak -> RealmAdmin.missing(keycloak.realm(tenant.value()), List.of(group))
                .isEmpty());
    }

    /**
     * The part of a group's path that the realm lacks.
     *
     * @param missing the missing groups, from the top
     * @param groups the number of groups in the realm
     */
    record MissingGroups(List<GroupPath> missing, long groups) {}

    /** Fails where there is no such realm. */
    Uni<MissingGroups> findMissing(TenantId tenant, GroupPath group) {
        return admin.call(keycloak -> {
            KeycloakRealm realm = keycloak.realm(tenant.value());
            return new MissingGroups(RealmAdmin.missing(realm, group.ancestorsAndSelf()), realm.groupCount());
        });
    }

    /** Whether the realm lacks this group; fails when Keycloak takes longer than the timeout. */
    public Uni<Boolean> isMissing(TenantId tenant, GroupPath group, Duration timeout) {
        return admin.call(timeout, keycloak -> !RealmAdmin.missing(keycloak.realm(tenant.value()), List.of(group))
                .isEmpty());
    }

    /**
     * The present and the missing among some groups. A group about which Keycloak gives no answer is in neither set.
     */
    public record Presence(Set<GroupPath> present, Set<GroupPath> missing) {}

    /**
     * Looks up which of these groups the realm has. A failed lookup of one group does not affect the others. Fails if
     * Keycloak answers for none of them, and if the realm does not exist, which must not look like a realm without
     * groups.
     */
    public Uni<Presence> presence(TenantId tenant, Set<GroupPath> groupPaths) {
        List<GroupPath> all = groupPaths.stream().sorted().toList();
        Presence presence = new Presence(new HashSet<>(), new HashSet<>());
        Uni<Presence> chain = Uni.createFrom().item(presence);
        // Calls write and read it one after the other.
        List<KeycloakFailure> refusals = new ArrayList<>();
        for (int first = 0; first < all.size(); first += MAX_GROUPS_PER_CALL) {
            List<GroupPath> some = all.subList(first, Math.min(all.size(), first + MAX_GROUPS_PER_CALL));
            chain = chain.chain(() -> admin.call(keycloak -> {
                KeycloakRealm realm = keycloak.realm(tenant.value());
                realm.require();
                checkPresence(realm, tenant, some, presence, refusals);
                return presence;
            }));
        }
        return chain.invoke(() -> {
            if (!refusals.isEmpty() && refusals.size() == all.size()) {
                throw refusals.getLast();
            }
        });
    }

    private static void checkPresence(
            KeycloakRealm realm,
            TenantId tenant,
            List<GroupPath> some,
            Presence presence,
            List<KeycloakFailure> refusals) {
        for (GroupPath group : some) {
            try {
                (realm.group(group).isPresent() ? presence.present() : presence.missing()).add(group);
            } catch (KeycloakFailure e) {
                if (e.isUnavailable()) {
                    throw e;
                }
                LOG.warnf("Keycloak did not answer whether tenant %s has group %s: %s", tenant, group, e.getMessage());
                refusals.add(e);
            }
        }
    }
}
