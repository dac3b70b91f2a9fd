package io.quartermaster.governance.policies;

import io.quartermaster.access.Caller;
import io.quartermaster.access.CurrentCaller;
import io.quartermaster.capacity.grants.CapacityReservation;
import io.quartermaster.capacity.grants.CapacityReservationApi;
import io.quartermaster.capacity.grants.CapacityReservationStore;
import io.quartermaster.capacity.grants.CapacityReservationStore.Change;
import io.quartermaster.capacity.grants.TenantAllotments;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.governance.RuleChanges;
import io.quartermaster.governance.RulesStore;
import io.quartermaster.governance.rules.CalendarFit;
import io.quartermaster.governance.rules.Policy;
import io.quartermaster.governance.rules.TenantRules;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.writes.TenantWrites;
import io.quartermaster.platform.writes.WriteParams;
import io.quartermaster.platform.writes.WriteReply;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.hibernate.reactive.mutiny.Mutiny;
import org.jspecify.annotations.Nullable;

/**
 * Gives groups parts of their tenant's reservation for a window of time, and never more than the tenant has at each
 * moment of it.
 */
@ApplicationScoped
class PolicyReservationService {

    private final TenantWrites tenantWrites;
    private final RulesStore store;
    private final CapacityReservationStore reservations;
    private final CurrentCaller currentCaller;

    PolicyReservationService(
            TenantWrites tenantWrites,
            RulesStore store,
            CapacityReservationStore reservations,
            CurrentCaller currentCaller) {
        this.tenantWrites = tenantWrites;
        this.store = store;
        this.reservations = reservations;
        this.currentCaller = currentCaller;
    }

    Uni<Response> create(
            TenantId tenant, CapacityReservationApi.@Nullable OfPolicy body, WriteParams params, UriInfo uri) {
        if (body == null) {
            throw ProblemException.invalid("body", "is missing", "a JSON object");
        }
        CapacityReservationApi.Terms terms = body.check(reservations.now());
        Caller caller = currentCaller.current();
        return tenantWrites.run(tenant, caller.subject(), uri, params, body, session -> store.lock(session, tenant)
                .chain(rules ->
                        insert(new Change(session, tenant, caller), rules, String.valueOf(body.policy()), terms))
                .map(made ->
                        WriteReply.created("/v1/tenants/" + tenant + "/capacity-reservations/" + made.id(), made)));
    }

    private Uni<CapacityReservationApi.View> insert(
            Change change, TenantRules rules, String policyName, CapacityReservationApi.Terms terms) {
        return reservations
                .allotment(change.session(), change.tenant(), terms.pool())
                .chain(pool -> {
                    Policy policy = requirePolicy(rules, policyName, pool);
                    return reservations
                            .readUpcoming(change.session(), change.tenant())
                            .chain(coming -> reservations
                                    .add(change, terms, pool, Optional.of(policy.id()), policy.name(), coming)
                                    .invoke(made -> requireRoom(rules, coming, made.reservation()))
                                    .map(made -> made.view(change.tenant(), reservations.now(), null)));
                });
    }

    private static Policy requirePolicy(TenantRules rules, String name, TenantAllotments.NamedAllotment pool) {
        Policy policy = rules.policy(name)
                .orElseThrow(
                        () -> ProblemException.invalid("policy", "there is no policy " + name, "the name of a policy"));
        if (policy.quotaFor(Scope.of(pool.allotment().pool())).isEmpty()) {
            throw ProblemException.refused(
                    "no-quota",
                    "pool",
                    "policy " + name + " has no quota in pool " + pool.poolName(),
                    "a pool in which the policy has a quota");
        }
        return policy;
    }

    /**
     * Refuses the reservation where, at some moment of it, children would reserve more than their tenant or group has.
     */
    private void requireRoom(TenantRules rules, List<CapacityReservation> coming, CapacityReservation made) {
        List<CapacityReservation> all = new ArrayList<>(coming);
        all.add(made);
        var unfit = new ProblemException.Invalid();
        CalendarFit.objections(
                        new CalendarFit.State(rules, coming), new CalendarFit.State(rules, all), reservations.now())
                .forEach(objection -> unfit.add(
                        "gpus",
                        "does not fit: " + objection.text(),
                        "at most the amount that is free at each moment of the window"));
        unfit.refuseIfAny(RuleChanges.DO_NOT_FIT);
    }

    Uni<Response> end(TenantId tenant, String id, WriteParams params, UriInfo uri) {
        Caller caller = currentCaller.current();
        return tenantWrites.run(
                tenant, caller.subject(), uri, params, null, session -> requireOfGroup(session, tenant, id)
                        .chain(found -> reservations.endAlone(new Change(session, tenant, caller), found))
                        .map(done -> WriteReply.noContent()));
    }

    private Uni<CapacityReservationStore.NamedReservation> requireOfGroup(
            Mutiny.Session session, TenantId tenant, String id) {
        return store.lock(session, tenant)
                .chain(() -> reservations.find(session, tenant, id))
                .invoke(found -> {
                    if (found.reservation().policy().isEmpty()) {
                        throw ProblemException.forbidden(
                                "the operator made this capacity reservation for the tenant; only the "
                                        + "operator can end it");
                    }
                });
    }
}
