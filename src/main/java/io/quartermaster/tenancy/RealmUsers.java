package io.quartermaster.tenancy;

import io.quartermaster.access.Caller;
import io.quartermaster.access.KeycloakAdmin;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.NotFoundException;
import java.time.Duration;
import org.keycloak.admin.client.Keycloak;

/** The users and service accounts that realms have, asked of Keycloak each time. */
@ApplicationScoped
public class RealmUsers {

    private final KeycloakAdmin admin;

    RealmUsers(KeycloakAdmin admin) {
        this.admin = admin;
    }

    /** Whether the caller's realm still has the caller, enabled. Fails when Keycloak takes longer than the patience. */
    public Uni<Boolean> has(Caller caller, Duration patience) {
        return admin.call(patience, keycloak -> has(keycloak, caller));
    }

    private static boolean has(Keycloak keycloak, Caller caller) {
        try {
            return keycloak.realm(caller.realm().word())
                    .users()
                    .get(caller.subject())
                    .toRepresentation()
                    .isEnabled();
        } catch (NotFoundException e) {
            return false;
        }
    }
}
