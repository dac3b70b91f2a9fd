package io.quartermaster.access;

import java.util.Optional;

/** What the gate must know of the route a request hits. */
record Route(Area area, Optional<Permission> needs) {

    /** Whose part of the API it is. */
    sealed interface Area {
        /** {@code /v1/tenants/{tenant}/...}; {@code tenant} is text as sent, {@code known} whether there is such a tenant. */
        record OfTenant(String tenant, boolean known) implements Area {}

        /** {@code /v1/operator/...} */
        record OfOperator() implements Area {}

        /** {@code /v1/nodes/{node}/...} */
        record OfNode(String node) implements Area {}

        /** Anything else: open to whoever has the permission. */
        record Common() implements Area {}
    }
}
