package io.quartermaster.capacity.grants;

import io.quartermaster.access.Caller;
import io.quartermaster.access.audit.AuditLog;
import io.quartermaster.platform.GpuAmount;
import io.quartermaster.platform.Ids;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.TenantTransactions;
import io.quartermaster.platform.http.Page;
import io.quartermaster.platform.http.PageRequest;
import io.quartermaster.platform.http.Problem;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.inbox.Inbox;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Clock;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.hibernate.reactive.mutiny.Mutiny;
import org.jspecify.annotations.Nullable;

/**
 * A tenant's capacity reservations, which are created and ended under the lock of its quotas. A reservation that has
 * begun is never removed: it ends, and its row stays for the ledger.
 */
@ApplicationScoped
public class CapacityReservationStore {

    /** The most reservations of one tenant that may be planned or open at the same time. */
    public static final int MAX_PER_TENANT = 200;

    private final TenantTransactions transactions;
    private final TenantAllotments tenantAllotments;
    private final AllotmentGuard guard;
    private final AuditLog audit;
    private final Clock clock = Clock.systemUTC();

    CapacityReservationStore(
            TenantTransactions transactions, TenantAllotments tenantAllotments, AllotmentGuard guard, AuditLog audit) {
        this.transactions = transactions;
        this.tenantAllotments = tenantAllotments;
        this.guard = guard;
        this.audit = audit;
    }

    /** In milliseconds, as the engine counts. */
    public Instant now() {
        return clock.instant().truncatedTo(ChronoUnit.MILLIS);
    }

    /** A write in its transaction. */
    public record Change(Mutiny.Session session, TenantId tenant, Caller caller) {}

    /** A reservation with the names that the API uses. */
    public record NamedReservation(
            CapacityReservation reservation,
            String pool,
            @Nullable String policy) {

        public CapacityReservationApi.View view(TenantId tenant, Instant now, @Nullable List<String> warnings) {
            return new CapacityReservationApi.View(
                    reservation.id(),
                    tenant.value(),
                    pool,
                    policy,
                    new GpuAmount(reservation.gpuMilli()),
                    reservation.lendable(),
                    reservation.startsAt(),
                    reservation.endsAt(),
                    reservation.stateAt(now),
                    warnings);
        }
    }

    private static final String SELECT = """
            select c.id, c.pool_id, c.policy_id, c.gpu_milli, c.lendable, c.starts_at, c.ends_at, p.name, o.name
                as policy
              from capacity_reservation c join pool p on p.id = c.pool_id
              left join policy o on o.tenant_id = c.tenant_id and o.id = c.policy_id
             where c.tenant_id = :tenant
            """;

    /** In the order of their creation. */
    public Uni<Page<CapacityReservationApi.View>> list(TenantId tenant, boolean over, PageRequest page) {
        Instant now = now();
        String scope = "capacity-reservations:" + tenant + ":" + over;
        UUID after = page.afterId(scope).orElse(new UUID(0, 0));
        return transactions
                .in(tenant, session -> tenantAllotments
                        .requireTenant(session, tenant)
                        .chain(() -> session.createNativeQuery(
                                        SELECT + " and (c.ends_at <= :now) = :over and c.id > :after order by c.id",
                                        Object[].class)
                                .setParameter("tenant", tenant.value())
                                .setParameter("now", now)
                                .setParameter("over", over)
                                .setParameter("after", after)
                                .setMaxResults(page.size() + 1)
                                .getResultList()))
                .map(rows -> Page.of(
                        rows.stream()
                                .map(row -> toNamedReservation(row).view(tenant, now, null))
                                .toList(),
                        page.size(),
                        scope,
                        view -> view.id().toString()));
    }

    public Uni<CapacityReservationApi.View> get(TenantId tenant, String id) {
        return transactions
                .in(tenant, session -> find(session, tenant, id))
                .map(found -> found.view(tenant, now(), null));
    }

    public Uni<NamedReservation> find(Mutiny.Session session, TenantId tenant, String id) {
        return session.createNativeQuery(SELECT + " and c.id = :id", Object[].class)
                .setParameter("tenant", tenant.value())
                .setParameter("id", id(id))
                .getSingleResultOrNull()
                .onItem()
                .ifNull()
                .failWith(ProblemException::notFound)
                .map(CapacityReservationStore::toNamedReservation);
    }

    /** All reservations that are planned or open; take the lock of the tenant's quotas first. */
    public Uni<List<CapacityReservation>> readUpcoming(Mutiny.Session session, TenantId tenant) {
        return session.createNativeQuery(SELECT + " and c.ends_at > :now order by c.id", Object[].class)
                .setParameter("tenant", tenant.value())
                .setParameter("now", now())
                .getResultList()
                .map(rows -> rows.stream()
                        .map(row -> toNamedReservation(row).reservation())
                        .toList());
    }

    /** The pool of this name in which the tenant has an allotment. */
    public Uni<TenantAllotments.NamedAllotment> allotment(Mutiny.Session session, TenantId tenant, String pool) {
        return tenantAllotments.read(session, tenant).map(all -> all.stream()
                .filter(one -> one.poolName().equals(pool))
                .findFirst()
                .orElseThrow(() -> ProblemException.invalid(
                        "pool",
                        "the tenant has no allotment in a pool named " + pool,
                        all.isEmpty()
                                ? "none: no pool is allotted yet"
                                : all.stream()
                                        .map(TenantAllotments.NamedAllotment::poolName)
                                        .collect(Collectors.joining(", ")))));
    }

    /** Inserts a new reservation and notifies the leader. */
    public Uni<NamedReservation> add(
            Change change,
            CapacityReservationApi.Terms terms,
            TenantAllotments.NamedAllotment pool,
            Optional<UUID> policy,
            @Nullable String policyName,
            List<CapacityReservation> coming) {
        if (coming.size() >= MAX_PER_TENANT) {
            throw ProblemException.conflict(
                    "too-many-capacity-reservations",
                    "a tenant has at most " + MAX_PER_TENANT + " capacity reservations that are planned or open");
        }
        CapacityReservation made = terms.of(Ids.next(), pool.poolId(), policy);
        NamedReservation named = new NamedReservation(made, pool.poolName(), policyName);
        return change.session()
                .persist(new CapacityReservationRow(change.tenant().value(), made))
                .chain(() -> record(change, "create", null, named))
                .replaceWith(named);
    }

    /** Ends all planned or open reservations that match. */
    public Uni<Void> endAll(Change change, Predicate<CapacityReservation> which) {
        return readUpcoming(change.session(), change.tenant()).chain(coming -> {
            Uni<Void> chain = Uni.createFrom().voidItem();
            for (CapacityReservation each : coming.stream().filter(which).toList()) {
                chain = chain.chain(() -> find(
                                change.session(), change.tenant(), each.id().toString()))
                        .chain(found -> end(change, found));
            }
            return chain;
        });
    }

    /** Ends one reservation; refused while reservations of groups depend on it. */
    public Uni<Void> endAlone(Change change, NamedReservation named) {
        return readUpcoming(change.session(), change.tenant())
                .chain(before -> guard.objections(
                        change.session(),
                        change.tenant(),
                        before,
                        before.stream()
                                .filter(each ->
                                        !each.id().equals(named.reservation().id()))
                                .toList(),
                        now()))
                .invoke(objections -> {
                    if (!objections.isEmpty()) {
                        throw new ProblemException(Problem.of(
                                409,
                                "in-use",
                                "capacity reservations of groups depend on this one; end those first",
                                objections.stream()
                                        .map(text -> new Problem.Field("capacityReservation", text, null))
                                        .toList()));
                    }
                })
                .chain(() -> end(change, named));
    }

    /** Removes a reservation that has not begun; ends an open one at this moment. */
    private Uni<Void> end(Change change, NamedReservation named) {
        Instant now = now();
        CapacityReservation before = named.reservation();
        return switch (before.stateAt(now)) {
            case OVER ->
                throw ProblemException.conflict("over", "the capacity reservation ended at " + before.endsAt());
            case PLANNED ->
                row(change, before)
                        .chain(row -> change.session().remove(row))
                        .chain(() -> record(change, "delete", named, null));
            case OPEN -> endNow(change, named, now);
        };
    }

    private Uni<Void> endNow(Change change, NamedReservation named, Instant now) {
        CapacityReservation before = named.reservation();
        // A reservation lasts at least one millisecond.
        Instant end = now.isAfter(before.startsAt()) ? now : before.startsAt().plusMillis(1);
        CapacityReservation after = new CapacityReservation(
                before.id(),
                before.pool(),
                before.policy(),
                before.gpuMilli(),
                before.lendable(),
                before.startsAt(),
                end);
        return row(change, before)
                .invoke(row -> row.endsAt = end)
                .chain(() ->
                        record(change, "update", named, new NamedReservation(after, named.pool(), named.policy())));
    }

    private Uni<CapacityReservationRow> row(Change change, CapacityReservation reservation) {
        return change.session()
                .find(
                        CapacityReservationRow.class,
                        new CapacityReservationRow.Key(change.tenant().value(), reservation.id()));
    }

    private Uni<Void> record(
            Change change, String action, @Nullable NamedReservation before, @Nullable NamedReservation after) {
        NamedReservation either = before == null ? after : before;
        if (either == null) {
            throw new IllegalArgumentException("nothing changed");
        }
        Instant now = now();
        return audit.record(
                        change.session(),
                        change.tenant(),
                        change.caller(),
                        new AuditLog.Change(
                                "capacity-reservations:" + action,
                                "capacity-reservations/" + either.reservation().id(),
                                before == null ? null : before.view(change.tenant(), now, null),
                                after == null ? null : after.view(change.tenant(), now, null)))
                .chain(() -> Inbox.post(
                        change.session(),
                        change.tenant(),
                        Inbox.Kind.ALLOTMENT,
                        either.reservation().pool().toString()));
    }

    private static NamedReservation toNamedReservation(@Nullable Object[] row) {
        CapacityReservation reservation = new CapacityReservation(
                (UUID) value(row[0]),
                (UUID) value(row[1]),
                Optional.ofNullable((UUID) row[2]),
                ((Number) value(row[3])).longValue(),
                (Boolean) value(row[4]),
                ((OffsetDateTime) value(row[5])).toInstant(),
                ((OffsetDateTime) value(row[6])).toInstant());
        return new NamedReservation(reservation, (String) value(row[7]), (String) row[8]);
    }

    private static Object value(@Nullable Object column) {
        if (column == null) {
            throw new IllegalStateException("a column that is never null was");
        }
        return column;
    }

    private static UUID id(String text) {
        try {
            return UUID.fromString(text);
        } catch (IllegalArgumentException e) {
            throw ProblemException.notFound();
        }
    }
}
