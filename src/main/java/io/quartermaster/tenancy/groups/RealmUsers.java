package io.quartermaster.tenancy.groups;

import io.quartermaster.access.Caller;
import io.quartermaster.access.keycloak.KeycloakAdmin;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import org.keycloak.representations.idm.UserRepresentation;

/** The users and service accounts of realms, read from Keycloak on each call. */
@ApplicationScoped
public class RealmUsers {

    private final KeycloakAdmin admin;

    RealmUsers(KeycloakAdmin admin) {
        this.admin = admin;
    }

    /**
     * Whether the caller's realm still has the caller and has not disabled it. Fails when Keycloak takes longer than
     * the timeout.
     */
    public Uni<Boolean> exists(Caller caller, Duration timeout) {
        return admin.call(timeout, keycloak -> keycloak.realm(caller.realm().word())
                .userById(caller.subject())
                .filter(UserRepresentation::isEnabled)
                .isPresent());
    }
}
