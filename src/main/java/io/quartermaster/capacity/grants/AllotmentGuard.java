package io.quartermaster.capacity.grants;

import io.quartermaster.platform.TenantId;
import io.smallrye.mutiny.Uni;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.hibernate.reactive.mutiny.Mutiny;

/**
 * Asked before a tenant's allotments change; brought by the packages above, which know what was made of them. (An interface although
 * there is one implementation, because imports go down only.)
 */
public interface AllotmentGuard {

    /** What stands against a change of an allotment. */
    sealed interface Objection {

        String text();

        /** A rule of the tenant's names the pool of an allotment that would go. */
        record InUse(String text) implements Objection {}

        /** More would be reserved than is granted, at a moment, or always. */
        record DoesNotFit(String text, Optional<Instant> at) implements Objection {}
    }

    /**
     * What stands against it: one sentence for each thing that would no longer fit. Empty = it may change.
     *
     * @param after all allotments as they would be
     * @param windows the tenant's capacity reservations that would be planned or open beside them
     */
    Uni<List<Objection>> objectionsToAllotments(
            Mutiny.Session session,
            TenantId tenant,
            List<TenantAllotments.Named> after,
            List<CapacityReservation> windows,
            Instant now);

    /** What stands against capacity reservations becoming others: one sentence for each place that would be given out more than once. */
    Uni<List<String>> objections(
            Mutiny.Session session,
            TenantId tenant,
            List<CapacityReservation> before,
            List<CapacityReservation> after,
            Instant now);
}
