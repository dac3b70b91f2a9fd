package io.quartermaster.access;

import io.quartermaster.platform.TenantId;

/** The realm of a caller: the operator's, or that of one tenant. */
public sealed interface Realm {

    /** Name of the operator's realm in Keycloak; no tenant may have it. */
    String OPERATOR_NAME = "operator";

    /** The word for this realm in audit entries. */
    String word();

    record Operator() implements Realm {
        @Override
        public String word() {
            return OPERATOR_NAME;
        }
    }

    record Tenant(TenantId id) implements Realm {
        @Override
        public String word() {
            return id.value();
        }
    }
}
