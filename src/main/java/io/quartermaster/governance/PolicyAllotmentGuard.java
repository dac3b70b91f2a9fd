package io.quartermaster.governance;

import io.quartermaster.capacity.grants.AllotmentGuard;
import io.quartermaster.capacity.grants.CapacityReservation;
import io.quartermaster.capacity.grants.TenantAllotments;
import io.quartermaster.engine.model.GpuFormat;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.governance.rules.CalendarFit;
import io.quartermaster.governance.rules.QuotaTreeBuilder;
import io.quartermaster.governance.rules.TenantRules;
import io.quartermaster.platform.GpuAmount;
import io.quartermaster.platform.TenantId;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.hibernate.reactive.mutiny.Mutiny;

/**
 * Refuses to cut an allotment below what the tenant's policies reserve. Refuses to remove an allotment while policies
 * or profiles name its pool.
 */
@ApplicationScoped
public class PolicyAllotmentGuard implements AllotmentGuard {

    private final RulesStore store;

    PolicyAllotmentGuard(RulesStore store) {
        this.store = store;
    }

    @Override
    public Uni<List<Objection>> objectionsToAllotments(
            Mutiny.Session session,
            TenantId tenant,
            List<TenantAllotments.NamedAllotment> after,
            List<CapacityReservation> windows,
            Instant now) {
        return store.read(session, tenant).map(rules -> {
            List<Objection> objections = objections(rules, after);
            return objections.isEmpty()
                    ? CalendarFit.objections(
                                    new CalendarFit.State(rules, windows),
                                    new CalendarFit.State(rules.withAllotments(after), windows),
                                    now)
                            .stream()
                            .<Objection>map(each -> new Objection.DoesNotFit(each.text(), Optional.of(each.at())))
                            .toList()
                    : objections;
        });
    }

    @Override
    public Uni<List<String>> objections(
            Mutiny.Session session,
            TenantId tenant,
            List<CapacityReservation> before,
            List<CapacityReservation> after,
            Instant now) {
        return store.read(session, tenant)
                .map(
                        rules -> CalendarFit.objections(
                                        new CalendarFit.State(rules, before), new CalendarFit.State(rules, after), now)
                                .stream()
                                .map(CalendarFit.Objection::text)
                                .toList());
    }

    public static List<Objection> objections(TenantRules rules, List<TenantAllotments.NamedAllotment> after) {
        List<Objection> objections = new ArrayList<>();
        referenceObjections(rules, after).forEach(text -> objections.add(new Objection.InUse(text)));
        TenantRules changed = rules.withAllotments(after);
        for (QuotaTreeBuilder.Overdraft overdraft : changed.tree().overdrafts()) {
            objections.add(new Objection.DoesNotFit(
                    "in " + changed.nameOf(overdraft.parent().scope()) + " policies reserve "
                            + GpuFormat.gpus(overdraft.childrenReservedGpuMilli())
                            + ", but the allotment would reserve only "
                            + new GpuAmount(overdraft.parent().reservedGpuMilli()) + ": "
                            + overdraft.reservations(),
                    Optional.empty()));
        }
        return objections;
    }

    private static List<String> referenceObjections(TenantRules rules, List<TenantAllotments.NamedAllotment> after) {
        Set<PoolId> left = after.stream().map(one -> one.allotment().pool()).collect(Collectors.toSet());
        List<String> objections = new ArrayList<>();
        for (TenantAllotments.NamedAllotment one : rules.allotments()) {
            PoolId pool = one.allotment().pool();
            if (left.contains(pool)) {
                continue;
            }
            rules.policies().stream()
                    .filter(policy -> policy.quotaFor(Scope.of(pool)).isPresent())
                    .forEach(policy ->
                            objections.add("policy " + policy.name() + " has a quota in pool " + one.poolName()));
            rules.profiles().stream()
                    .filter(profile -> profile.pools().contains(pool))
                    .forEach(profile -> objections.add("profile " + profile.name() + " uses pool " + one.poolName()));
        }
        return objections;
    }
}
