package io.quartermaster.access;

import java.util.Optional;

/**
 * The properties of a request's route that the gate needs.
 *
 * @param access whether the request can change anything; derived from its HTTP method, so that no route escapes
 */
record Route(Area area, Optional<Permission> requiredPermission, Access access) {

    enum Access {
        READS,
        WRITES
    }

    /** The part of the API that a route belongs to. */
    sealed interface Area {
        /**
         * {@code /v1/tenants/{tenant}/...}; {@code tenant} is text as sent, {@code status} is empty if the tenant
         * never existed.
         */
        record OfTenant(String tenant, Optional<IssuerDirectory.TenantStatus> status) implements Area {}

        /** {@code /v1/operator/...} */
        record OfOperator() implements Area {}

        /** {@code /v1/nodes/{node}/...} */
        record OfNode(String node) implements Area {}

        /** {@code /v1/me}: for every caller alike. */
        record OfCaller() implements Area {}

        /** A route outside these parts. No caller may use it. */
        record Unreachable() implements Area {}
    }
}
