package io.quartermaster.tenancy;

import io.quartermaster.access.Realm;
import io.quartermaster.access.Role;
import io.quartermaster.access.keycloak.KeycloakRealm;
import io.quartermaster.platform.TenantId;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.keycloak.representations.idm.RealmRepresentation;

/**
 * The attribute that marks the realm which the service created for a tenant. The service neither changes nor removes a
 * realm without it.
 */
final class RealmMark {

    static final String ATTRIBUTE = "quartermaster.tenant";

    /** The owner of the realm with a tenant's name. */
    enum Owner {
        /** There is no realm of that name. */
        ABSENT,
        /** The realm has the tenant's mark. */
        TENANT,
        /** The realm has no mark, but the role of tenants' admins: a version without marks may have created it. */
        UNKNOWN,
        /** The realm has another mark, or neither a mark nor that role. */
        OTHER
    }

    private RealmMark() {}

    /** Adds the mark to the representation of a new realm. */
    static RealmRepresentation on(RealmRepresentation realm, TenantId tenant) {
        Map<String, String> attributes =
                new TreeMap<>(Optional.ofNullable(realm.getAttributes()).orElse(Map.of()));
        attributes.put(ATTRIBUTE, tenant.value());
        realm.setAttributes(attributes);
        return realm;
    }

    static Owner owner(KeycloakRealm realm, TenantId tenant) {
        Optional<Map<String, String>> attributes = realm.attributes();
        if (attributes.isEmpty()) {
            return Owner.ABSENT;
        }
        String mark = attributes.get().get(ATTRIBUTE);
        if (mark == null) {
            return realm.hasRole(Role.TENANT_ADMIN.word()) ? Owner.UNKNOWN : Owner.OTHER;
        }
        return mark.equals(tenant.value()) ? Owner.TENANT : Owner.OTHER;
    }

    /** Throws, with a message for operators, unless the realm has the tenant's mark. */
    static void require(KeycloakRealm realm, TenantId tenant) {
        if (owner(realm, tenant) != Owner.TENANT) {
            throw new IllegalStateException(
                    "Keycloak has a realm " + tenant + " that the service did not create for tenant " + tenant
                            + " (its attribute " + ATTRIBUTE + " is not " + tenant
                            + "). Rename that realm, or offboard the tenant"
                            + " and create one with another id. Set the attribute only if the realm is this tenant's");
        }
    }

    /**
     * Marks an operator's realm that a version without marks created. Such a realm has the service's roles and the
     * client of its command line.
     *
     * @throws ForeignRealmException if the service did not create the realm
     */
    static void adoptOperator(KeycloakRealm realm) {
        Map<String, String> attributes = new TreeMap<>(realm.attributes().orElseThrow());
        String mark = attributes.get(ATTRIBUTE);
        boolean unmarked = mark == null
                && realm.hasRole(Role.OPERATOR.word())
                && realm.hasRole(Role.AGENT.word())
                && realm.client(OperatorRealm.CLI_CLIENT).isPresent();
        if (unmarked) {
            attributes.put(ATTRIBUTE, Realm.OPERATOR_NAME);
            realm.setAttributes(attributes);
        } else if (!Realm.OPERATOR_NAME.equals(mark)) {
            throw new ForeignRealmException("Keycloak has a realm " + Realm.OPERATOR_NAME
                    + " that this service did not create, so its tokens are refused. Rename that realm, and the "
                    + "service"
                    + " creates its own. Set its attribute " + ATTRIBUTE + " to " + Realm.OPERATOR_NAME
                    + " only if all users with a role " + Role.OPERATOR.word() + " in it are operators");
        }
    }

    /** Thrown when a foreign realm has the name of the operator's realm. */
    static final class ForeignRealmException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        ForeignRealmException(String message) {
            super(message);
        }
    }

    /**
     * Marks a tenant's realm that a version without marks created. Throws as {@link #require} does if it is not the
     * tenant's.
     */
    static void adopt(KeycloakRealm realm, TenantId tenant) {
        if (owner(realm, tenant) == Owner.UNKNOWN) {
            Map<String, String> attributes = new TreeMap<>(realm.attributes().orElseThrow());
            attributes.put(ATTRIBUTE, tenant.value());
            realm.setAttributes(attributes);
        }
        require(realm, tenant);
    }
}
