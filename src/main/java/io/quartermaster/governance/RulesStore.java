package io.quartermaster.governance;

import io.quartermaster.capacity.grants.TenantAllotments;
import io.quartermaster.governance.rules.Policy;
import io.quartermaster.governance.rules.Profile;
import io.quartermaster.governance.rules.Queue;
import io.quartermaster.governance.rules.TenantRules;
import io.quartermaster.platform.TenantId;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import org.hibernate.reactive.mutiny.Mutiny;

/** Reads a tenant's rules as one value and writes the difference between two of them. Lists are sorted by name. */
@ApplicationScoped
public class RulesStore {

    private final TenantAllotments tenantAllotments;

    RulesStore(TenantAllotments tenantAllotments) {
        this.tenantAllotments = tenantAllotments;
    }

    /** Reads the rules for a change: no other transaction changes the tenant's quotas until this one ends. */
    public Uni<TenantRules> lock(Mutiny.Session session, TenantId tenant) {
        return tenantAllotments.lock(session, tenant).chain(() -> read(session, tenant));
    }

    public Uni<TenantRules> read(Mutiny.Session session, TenantId tenant) {
        return tenantAllotments.read(session, tenant).chain(granted -> policies(session, tenant)
                .chain(policies -> live(session, "Profile", ProfileRow.class, tenant)
                        .chain(profiles -> live(session, "Queue", QueueRow.class, tenant)
                                .map(queues -> new TenantRules(
                                        tenant,
                                        granted,
                                        policies.stream()
                                                .map(PolicyRow::toPolicy)
                                                .toList(),
                                        profiles.stream()
                                                .map(ProfileRow::toProfile)
                                                .toList(),
                                        sorted(queues, QueueRow::toQueue, Queue::name))))));
    }

    /** Sorts in Java's order, not in that of the database's locale, because pages are cut by it. */
    private static <R, T> List<T> sorted(List<R> rows, Function<R, T> read, Function<T, String> name) {
        return rows.stream().map(read).sorted(Comparator.comparing(name)).toList();
    }

    private static Uni<List<PolicyRow>> policies(Mutiny.Session session, TenantId tenant) {
        return session.createQuery(
                        "select p from Policy p left join fetch p.quotas where p.tenantId = :tenant and "
                                + "p.retiredAt is null",
                        PolicyRow.class)
                .setParameter("tenant", tenant.value())
                .getResultList();
    }

    private static <R> Uni<List<R>> live(Mutiny.Session session, String entity, Class<R> type, TenantId tenant) {
        return session.createQuery(
                        "select e from " + entity + " e where e.tenantId = :tenant and e.retiredAt is null", type)
                .setParameter("tenant", tenant.value())
                .getResultList();
    }

    /**
     * Writes what differs, and flushes: new objects are inserted, missing ones are retired. Both values must come from
     * {@link #lock} of this session.
     */
    Uni<Void> save(Mutiny.Session session, TenantRules before, TenantRules after) {
        String tenant = before.tenant().value();
        var policies = Diff.ofPolicies(before, after);
        var profiles = Diff.ofProfiles(before, after);
        var queues = Diff.ofQueues(before, after);
        List<Object> made = new ArrayList<>();
        policies.added().forEach(policy -> made.add(new PolicyRow(tenant, policy)));
        profiles.added().forEach(profile -> made.add(new ProfileRow(tenant, profile)));
        Instant now = Instant.now();
        return saveEach(session, PolicyRow.class, tenant, policies.changed(), Policy::id, PolicyRow::set)
                .chain(() ->
                        saveEach(session, ProfileRow.class, tenant, profiles.changed(), Profile::id, ProfileRow::set))
                .chain(() -> saveEach(session, QueueRow.class, tenant, queues.changed(), Queue::id, QueueRow::set))
                .chain(() -> saveEach(session, QueueRow.class, tenant, queues.removed(), Queue::id, (row, gone) -> {
                    row.retiredAt = now;
                    row.version++;
                }))
                .chain(() -> saveEach(session, PolicyRow.class, tenant, policies.removed(), Policy::id, (row, gone) -> {
                    row.retiredAt = now;
                    row.version++;
                }))
                .chain(() ->
                        saveEach(session, ProfileRow.class, tenant, profiles.removed(), Profile::id, (row, gone) -> {
                            row.retiredAt = now;
                            row.version++;
                        }))
                .chain(session::flush)
                .chain(() -> session.persistAll(made.toArray()))
                .chain(session::flush)
                .chain(() -> session.persistAll(queues.added().stream()
                        .map(queue -> new QueueRow(tenant, queue))
                        .toArray()))
                .chain(session::flush);
    }

    /** Writes one value into its row. */
    private interface Setter<R, T> {
        void set(R row, T value);
    }

    private static <R, T> Uni<Void> saveEach(
            Mutiny.Session session,
            Class<R> type,
            String tenant,
            List<T> values,
            Function<T, UUID> id,
            Setter<R, T> setter) {
        return SequentialUnis.each(values, value -> session.find(type, new TenantRowKey(tenant, id.apply(value)))
                .invoke(row -> setter.set(row, value)));
    }
}
