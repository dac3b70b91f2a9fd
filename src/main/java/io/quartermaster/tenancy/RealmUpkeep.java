package io.quartermaster.tenancy;

import io.quarkus.scheduler.Scheduled;
import io.quartermaster.access.keycloak.KeycloakAdmin;
import io.quartermaster.access.keycloak.KeycloakRealm;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.tenancy.signin.SignInResource;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.Row;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.ArrayList;
import java.util.List;
import org.jboss.logging.Logger;

/**
 * Keeps tenants' realms up to date. Realms from an older version of the program get the later additions. The realm of a
 * suspended tenant allows its admins no changes of users until the tenant is resumed. The table states which realms are
 * due, so a realm that is up to date causes no call.
 *
 * <p>Several replicas may run this concurrently. One replica owns a realm for {@link #CLAIM_SECONDS}; after that, a
 * realm that failed is due again.
 */
@ApplicationScoped
class RealmUpkeep {

    private static final Logger LOG = Logger.getLogger(RealmUpkeep.class);

    /** Incremented whenever a realm gets more changes than before: every realm is then due once. */
    private static final int REVISION = 4;
    /** The first revision in which realms have their tenant's mark. */
    private static final int MARKED = 2;

    private static final int MAX_REALMS_PER_RUN = 20;
    /** Longer than a call to Keycloak may take. */
    private static final int CLAIM_SECONDS = 90;

    private static final String CLAIM_DUE = """
            update tenant set realm_busy_until = clock_timestamp() + make_interval(secs => $2)
             where id in (select id from tenant
                           where state in ('active', 'suspended') and realm_busy_until <= clock_timestamp()
                             and (realm_revision < $1 or realm_suspended <> (state = 'suspended'))
                           order by realm_busy_until, id limit $3 for update skip locked)
            returning id, plan, state = 'suspended' as suspended, realm_suspended, realm_revision
            """;

    private final SystemDatabase database;
    private final KeycloakAdmin admin;
    private final BlueprintCatalog blueprintCatalog;

    RealmUpkeep(SystemDatabase database, KeycloakAdmin admin, BlueprintCatalog blueprintCatalog) {
        this.database = database;
        this.admin = admin;
        this.blueprintCatalog = blueprintCatalog;
    }

    /**
     * @param wasSuspended whether the realm was last set up for a suspended tenant
     * @param revision the revision of the realm's settings
     */
    private record DueRealm(TenantId tenant, String plan, boolean suspended, boolean wasSuspended, int revision) {

        static DueRealm of(Row row) {
            return new DueRealm(
                    new TenantId(row.getString("id")),
                    row.getString("plan"),
                    row.getBoolean("suspended"),
                    row.getBoolean("realm_suspended"),
                    row.getInteger("realm_revision"));
        }
    }

    @Scheduled(
            every = "${quartermaster.tenancy.realm-upkeep:5s}",
            concurrentExecution = Scheduled.ConcurrentExecution.SKIP)
    Uni<Void> run() {
        return database.on(connection -> connection
                        .preparedQuery(CLAIM_DUE)
                        .execute(Tuple.of(REVISION, CLAIM_SECONDS, MAX_REALMS_PER_RUN)))
                .onItem()
                .transformToMulti(rows -> {
                    List<DueRealm> due = new ArrayList<>();
                    rows.forEach(row -> due.add(DueRealm.of(row)));
                    return Multi.createFrom().iterable(due);
                })
                .onItem()
                .transformToUniAndConcatenate(this::conform)
                .collect()
                .last()
                .replaceWithVoid()
                .onFailure()
                .invoke(e -> LOG.warnf("the search for realms that are due failed: %s", e.getMessage()))
                .onFailure()
                .recoverWithNull();
    }

    /**
     * Adds the client of the command line, as the tenant's plan or this program states it. An existing client stays as
     * it is, except that it takes passwords in a demonstration.
     */
    private void ensureCommandLine(KeycloakRealm realm, DueRealm due) {
        RealmAdmin.ensureClient(realm, blueprintCatalog.clientOf(due.plan(), due.tenant(), SignInResource.CLIENT));
        if (blueprintCatalog.find(due.plan()).filter(Blueprint::demo).isPresent()) {
            RealmAdmin.enableDirectAccessGrants(realm, SignInResource.CLIENT);
        }
    }

    private Uni<Void> conform(DueRealm due) {
        return admin.call(keycloak -> {
                    KeycloakRealm realm = keycloak.realm(due.tenant().value());
                    if (due.revision() < MARKED) {
                        RealmMark.adopt(realm, due.tenant());
                    } else {
                        RealmMark.require(realm, due.tenant());
                    }
                    RealmAdmin.conform(realm);
                    ensureCommandLine(realm, due);
                    if (due.suspended() != due.wasSuspended() && blueprintCatalog.adminsManageUsers(due.plan())) {
                        RealmAdmin.setAdminsManageUsers(realm, !due.suspended());
                    }
                    return due;
                })
                .chain(() -> database.on(connection -> connection
                        .preparedQuery(
                                "update tenant set realm_revision = $2, realm_suspended = $3, realm_busy_until = "
                                        + "'-infinity' where id = $1")
                        .execute(Tuple.of(due.tenant().value(), REVISION, due.suspended()))))
                .replaceWithVoid()
                .onFailure()
                .invoke(e -> LOG.warnf(
                        "the realm of tenant %s could not be brought up to date: %s", due.tenant(), e.getMessage()))
                .onFailure()
                .recoverWithNull();
    }
}
