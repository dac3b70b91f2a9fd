package io.quartermaster.capacity.grants;

import io.quartermaster.platform.TenantId;
import io.smallrye.mutiny.Uni;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.hibernate.reactive.mutiny.Mutiny;

/**
 * The check that other packages run before a tenant's allotments change. The packages above implement it, because they
 * know the rules that use the allotments. (It is an interface although there is one implementation, because imports go
 * down only.)
 */
public interface AllotmentGuard {

    /** The reason why an allotment cannot change. */
    sealed interface Objection {

        String text();

        /** A rule of the tenant names the pool of an allotment that the change removes. */
        record InUse(String text) implements Objection {}

        /** Reservations would exceed the allotment, at a moment, or always. */
        record DoesNotFit(String text, Optional<Instant> at) implements Objection {}
    }

    /**
     * The reasons against the change: one sentence for each conflict. Empty = the allotments may change.
     *
     * @param after all allotments as they would be
     * @param windows the tenant's capacity reservations that would be planned or open beside them
     */
    Uni<List<Objection>> objectionsToAllotments(
            Mutiny.Session session,
            TenantId tenant,
            List<TenantAllotments.NamedAllotment> after,
            List<CapacityReservation> windows,
            Instant now);

    /**
     * The reasons against a change of capacity reservations: one sentence for each place where children would reserve
     * more than there is.
     */
    Uni<List<String>> objections(
            Mutiny.Session session,
            TenantId tenant,
            List<CapacityReservation> before,
            List<CapacityReservation> after,
            Instant now);
}
