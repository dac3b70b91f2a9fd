package io.quartermaster.access;

import java.util.Optional;

/**
 * What the gate must know of the route a request hits.
 *
 * @param access whether the request can change anything; told by its method, so that no route escapes
 */
record Route(Area area, Optional<Permission> needs, Access access) {

    enum Access {
        READS,
        WRITES
    }

    /** Whose part of the API it is. */
    sealed interface Area {
        /** {@code /v1/tenants/{tenant}/...}; {@code tenant} is text as sent, {@code standing} empty where there never was such a tenant. */
        record OfTenant(String tenant, Optional<IssuerDirectory.Standing> standing) implements Area {}

        /** {@code /v1/operator/...} */
        record OfOperator() implements Area {}

        /** {@code /v1/nodes/{node}/...} */
        record OfNode(String node) implements Area {}

        /** A route outside these parts. Nobody may use it. */
        record OfNobody() implements Area {}
    }
}
