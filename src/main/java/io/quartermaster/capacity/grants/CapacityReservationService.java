package io.quartermaster.capacity.grants;

import io.quartermaster.access.Caller;
import io.quartermaster.access.CurrentCaller;
import io.quartermaster.capacity.grants.CapacityReservationStore.Change;
import io.quartermaster.capacity.inventory.PoolStore;
import io.quartermaster.capacity.inventory.RowLock;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.writes.TenantWrites;
import io.quartermaster.platform.writes.WriteParams;
import io.quartermaster.platform.writes.WriteReply;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Gives tenants parts of pools for a window of time. Runs as the tenant, under the lock of its quotas. */
@ApplicationScoped
class CapacityReservationService {

    private final TenantWrites tenantWrites;
    private final SystemDatabase database;
    private final TenantAllotments tenantAllotments;
    private final PoolStore pools;
    private final CapacityReservationStore reservations;
    private final CurrentCaller currentCaller;

    CapacityReservationService(
            TenantWrites tenantWrites,
            SystemDatabase database,
            TenantAllotments tenantAllotments,
            PoolStore pools,
            CapacityReservationStore reservations,
            CurrentCaller currentCaller) {
        this.tenantWrites = tenantWrites;
        this.database = database;
        this.tenantAllotments = tenantAllotments;
        this.pools = pools;
        this.reservations = reservations;
        this.currentCaller = currentCaller;
    }

    Uni<Response> create(
            TenantId tenant, CapacityReservationApi.@Nullable OfTenant body, WriteParams params, UriInfo uri) {
        if (body == null) {
            throw ProblemException.invalid("body", "is missing", "a JSON object");
        }
        CapacityReservationApi.Terms terms = body.check(reservations.now());
        Caller caller = currentCaller.current();
        return tenantWrites.run(tenant, caller.subject(), uri, params, body, session -> {
            Change change = new Change(session, tenant, caller);
            return tenantAllotments
                    .lock(session, tenant)
                    .chain(() -> tenantAllotments.requireNotOffboarding(session, tenant))
                    .chain(() -> reservations.allotment(session, tenant, terms.pool()))
                    .chain(pool -> reservations
                            .readUpcoming(session, tenant)
                            .chain(coming -> reservations.add(change, terms, pool, Optional.empty(), null, coming)))
                    .chain(made -> warnings(made).map(warnings -> reply(tenant, made, warnings)));
        });
    }

    /** Warnings that include the reservations of other tenants in that window. */
    private Uni<List<String>> warnings(CapacityReservationStore.NamedReservation made) {
        return database.on(connection -> pools.find(connection, made.pool(), RowLock.NONE)
                .map(found -> found.orElseThrow(ProblemException::notFound))
                .chain(pool -> ReservedAmounts.reservedByOthersDuring(
                                connection, made.reservation(), reservations.now())
                        .map(others -> OversubscriptionWarning.warnings(
                                pool.name(),
                                others + made.reservation().gpuMilli(),
                                pool.up().milli()))));
    }

    private WriteReply reply(TenantId tenant, CapacityReservationStore.NamedReservation made, List<String> warnings) {
        Instant now = reservations.now();
        return WriteReply.created(
                "/v1/operator/tenants/" + tenant + "/capacity-reservations/"
                        + made.reservation().id(),
                made.view(tenant, now, warnings));
    }

    Uni<Response> end(TenantId tenant, String id, WriteParams params, UriInfo uri) {
        Caller caller = currentCaller.current();
        return tenantWrites.run(tenant, caller.subject(), uri, params, null, session -> tenantAllotments
                .lock(session, tenant)
                .chain(() -> reservations.find(session, tenant, id))
                .chain(found -> reservations.endAlone(new Change(session, tenant, caller), found))
                .map(done -> WriteReply.noContent()));
    }
}
