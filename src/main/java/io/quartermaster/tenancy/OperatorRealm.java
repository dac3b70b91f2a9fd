package io.quartermaster.tenancy;

import io.quarkus.scheduler.Scheduled;
import io.quartermaster.access.OperatorTokens;
import io.quartermaster.access.Realm;
import io.quartermaster.access.Role;
import io.quartermaster.access.audit.AuditLog;
import io.quartermaster.access.keycloak.KeycloakAdmin;
import io.quartermaster.access.keycloak.KeycloakClient;
import io.quartermaster.access.keycloak.KeycloakFailure;
import io.quartermaster.access.keycloak.KeycloakRealm;
import io.quartermaster.tenancy.signin.SignInResource;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.List;
import org.jboss.logging.Logger;
import org.keycloak.representations.idm.ClientRepresentation;

/**
 * Creates the operator's realm if it is missing when the service starts. Keycloak may still be starting then, for
 * minutes: the service runs meanwhile, and this class retries. A realm of that name that the service did not create
 * stays unchanged. Its tokens are refused, also where Keycloak does not let the service see its origin. Otherwise,
 * users with a role {@code operator} in it would have the operator's rights over all tenants.
 */
@ApplicationScoped
public class OperatorRealm {

    static final String CLI_CLIENT = "quartermaster-cli";
    private static final Logger LOG = Logger.getLogger(OperatorRealm.class);

    private final KeycloakAdmin admin;
    private final BlueprintCatalog blueprintCatalog;
    private final TenancyConfig config;
    private final OperatorTokens tokens;

    private volatile boolean ready;
    private volatile String waitingFor = "Keycloak was not asked yet";

    OperatorRealm(KeycloakAdmin admin, BlueprintCatalog blueprintCatalog, TenancyConfig config, OperatorTokens tokens) {
        this.tokens = tokens;
        this.admin = admin;
        this.blueprintCatalog = blueprintCatalog;
        this.config = config;
    }

    public boolean isReady() {
        return ready;
    }

    /** The reason why the realm is not ready, for people. */
    String waitingFor() {
        return waitingFor;
    }

    @Scheduled(every = "2s", concurrentExecution = Scheduled.ConcurrentExecution.SKIP)
    Uni<Void> ensure() {
        if (ready) {
            return Uni.createFrom().voidItem();
        }
        return admin.call(this::ensure)
                .invoke(this::recordReady)
                .replaceWithVoid()
                .onFailure()
                .recoverWithUni(failure -> {
                    recordNotReady(failure);
                    return Uni.createFrom().voidItem();
                });
    }

    private boolean ensure(KeycloakClient keycloak) {
        boolean isNew = confirm(keycloak);
        KeycloakRealm realm = keycloak.realm(Realm.OPERATOR_NAME);
        RealmAdmin.disableDirectAccessGrants(realm, RealmAdmin.ADMIN_CLI);
        RealmAdmin.ensureClient(realm, blueprintCatalog.operatorClient(SignInResource.CLIENT));
        config.cliSecret().ifPresent(secret -> ensureSecret(realm, secret));
        if (config.demo()) {
            RealmAdmin.enableDirectAccessGrants(realm, IdentitiesStep.PORTAL_CLIENT);
            RealmAdmin.enableDirectAccessGrants(realm, SignInResource.CLIENT);
            RealmAdmin.ensureUser(
                    realm, config.demoOperator(), config.demoOperatorPassword(), List.of(Role.OPERATOR.word()));
        }
        return isNew;
    }

    /** Creates the realm, or confirms that the service created it. A later failure does not make its tokens invalid. */
    private boolean confirm(KeycloakClient keycloak) {
        try {
            boolean isNew =
                    RealmAdmin.ensure(keycloak, RealmMark.on(blueprintCatalog.operatorRealm(), AuditLog.OPERATOR));
            RealmMark.adoptOperator(keycloak.realm(Realm.OPERATOR_NAME));
            tokens.accept();
            return isNew;
        } catch (RuntimeException e) {
            if (isKeycloakUnavailable(e)) {
                tokens.keepState();
            } else {
                tokens.refuse();
            }
            throw e;
        }
    }

    private static boolean isKeycloakUnavailable(Throwable failure) {
        return failure instanceof KeycloakFailure keycloak && keycloak.isUnavailable();
    }

    private static void ensureSecret(KeycloakRealm realm, String secret) {
        ClientRepresentation client = realm.client(CLI_CLIENT).orElseThrow();
        if (!secret.equals(realm.secret(client.getId()))) {
            client.setSecret(secret);
            realm.updateClient(client);
        }
    }

    private void recordReady(boolean isNew) {
        ready = true;
        LOG.infof("identity: ready%s", isNew ? "; the operator's realm was created" : "");
    }

    private void recordNotReady(Throwable failure) {
        String why = String.valueOf(failure.getMessage());
        if (!why.equals(waitingFor)) {
            waitingFor = why;
            if (isKeycloakUnavailable(failure)) {
                LOG.infof("identity: starting (%s)", why);
            } else {
                LOG.warn("identity: the operator's realm cannot be created or checked", failure);
            }
        }
    }
}
