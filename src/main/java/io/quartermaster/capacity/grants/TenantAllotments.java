package io.quartermaster.capacity.grants;

import io.quartermaster.engine.model.GpuFormat;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.platform.GpuAmount;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.ProblemException;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.UUID;
import org.hibernate.reactive.mutiny.Mutiny;
import org.jspecify.annotations.Nullable;

/** A tenant's allotments as the tenant itself may see them, and the lock under which its quotas are changed. */
@ApplicationScoped
public class TenantAllotments {

    /**
     * An allotment with the properties of the pool that its tenant may know: name, levels of its nodes' topology, the
     * widest first, and longest grace.
     */
    public record NamedAllotment(
            String poolName,
            UUID poolId,
            List<String> topologyLevels,
            Duration maxGrace,
            Allotment allotment,
            long version) {
        public NamedAllotment {
            topologyLevels = List.copyOf(topologyLevels);
        }
    }

    /**
     * The amount that a tenant's work holds in a pool, in thousandths of a GPU.
     *
     * @param staysGpuMilli the part of it that cannot be preempted
     */
    public record HeldAmounts(long gpuMilli, long staysGpuMilli) {

        /** The warning when the tenant holds more than a new grant. */
        public Optional<String> drainWarning(
                TenantId tenant, String pool, QuotaTerms standing, OptionalLong drainByMillis) {
            long limit = standing.limitGpuMilli().orElse(Long.MAX_VALUE);
            if (gpuMilli <= limit) {
                return Optional.empty();
            }
            String holds = "tenant " + tenant.value() + " holds " + GpuFormat.gpus(gpuMilli) + " in " + pool
                    + ", but its limit is now " + new GpuAmount(limit);
            return Optional.of(
                    drainByMillis.isEmpty()
                            ? holds + ". Excess work continues; no further work starts until it has ended"
                            : holds + ". Excess work is stopped at " + Instant.ofEpochMilli(drainByMillis.getAsLong())
                                    + (staysGpuMilli > limit
                                            ? ", except " + new GpuAmount(staysGpuMilli)
                                                    + " held by work that cannot be preempted"
                                            : ""));
        }
    }

    /** The amount that the tenant's work holds in a pool now. */
    Uni<HeldAmounts> readHeld(Mutiny.Session session, TenantId tenant, UUID pool) {
        return session.createNativeQuery("""
                        select coalesce(sum(a.gpu_milli), 0), coalesce(sum(a.gpu_milli) filter (where not w.preemptible), 0)
                          from attempt a join workload w on w.tenant_id = a.tenant_id and w.id = a.workload_id
                         where a.tenant_id = :tenant and a.pool_id = :pool and a.state <> 'ended'
                        """, Object[].class)
                .setParameter("tenant", tenant.value())
                .setParameter("pool", pool)
                .getSingleResult()
                .map(row -> new HeldAmounts(((Number) row[0]).longValue(), ((Number) row[1]).longValue()));
    }

    /**
     * Takes the lock of the tenant's quotas until the transaction ends. Every change of an allotment or a policy holds
     * it, so that checks over several rows read a consistent state.
     */
    public Uni<Void> lock(Mutiny.Session session, TenantId tenant) {
        return session.createNativeQuery(
                        "select 1 from pg_advisory_xact_lock(hashtextextended('quotas:' || :tenant, 0))", Integer.class)
                .setParameter("tenant", tenant.value())
                .getSingleResult()
                .replaceWithVoid();
    }

    /**
     * Fails if there is no such tenant; accepts a tenant that has left. Runs as the tenant, whose row-level security
     * shows it its own row of {@code tenant} and no other.
     */
    Uni<Void> requireTenant(Mutiny.Session session, TenantId tenant) {
        return session.createNativeQuery("select id from tenant where id = :tenant", String.class)
                .setParameter("tenant", tenant.value())
                .getSingleResultOrNull()
                .onItem()
                .ifNull()
                .failWith(ProblemException::notFound)
                .replaceWithVoid();
    }

    /**
     * Refuses grants to a tenant that leaves or has left. Take the lock of the tenant's quotas first: offboarding
     * deletes all allotments under that lock, so it also deletes a grant that passes this check.
     */
    Uni<Void> requireNotOffboarding(Mutiny.Session session, TenantId tenant) {
        return session.createNativeQuery("select state from tenant where id = :tenant", String.class)
                .setParameter("tenant", tenant.value())
                .getSingleResultOrNull()
                .onItem()
                .ifNull()
                .failWith(ProblemException::notFound)
                .invoke(state -> {
                    if (state.equals("deleted")) {
                        throw ProblemException.notFound();
                    }
                    if (state.equals("offboarding")) {
                        throw ProblemException.conflict(
                                "wrong-state",
                                "tenant " + tenant + " is offboarding: its allotments are being deleted, and it can get"
                                        + " no new ones");
                    }
                })
                .replaceWithVoid();
    }

    /** Sorted by the pool's name. */
    public Uni<List<NamedAllotment>> read(Mutiny.Session session, TenantId tenant) {
        return session.createNativeQuery("""
                        select p.name, a.pool_id, a.reserved_milli, a.limit_milli, a.weight, a.lendable_milli,
                            a.rank, a.version, array_to_string(p.topology_levels, ','),
                               a.override_reserved_milli, a.override_limit_milli, a.override_from, a.override_until,
                                   a.drain_by, a.fence, p.max_grace_ms
                        from allotment a join pool p on p.id = a.pool_id where a.tenant_id = :tenant order by p.name
                        """, Object[].class)
                .setParameter("tenant", tenant.value())
                .getResultList()
                .map(rows ->
                        rows.stream().map(row -> toNamedAllotment(tenant, row)).toList());
    }

    private static NamedAllotment toNamedAllotment(TenantId tenant, @Nullable Object[] row) {
        UUID pool = (UUID) value(row[1]);
        QuotaTerms terms = new QuotaTerms(
                ((Number) value(row[2])).longValue(),
                row[3] == null ? OptionalLong.empty() : OptionalLong.of(((Number) row[3]).longValue()),
                row[4] == null ? OptionalInt.empty() : OptionalInt.of(((Number) row[4]).intValue()),
                row[5] == null ? OptionalLong.empty() : OptionalLong.of(((Number) row[5]).longValue()),
                ((Number) value(row[6])).intValue(),
                QuotaOverrideApi.stored(
                        milli(row[9]), milli(row[10]), instant(row[11]), instant(row[12]), Instant.now()),
                QuotaOverrideApi.millis(instant(row[13])),
                (Boolean) value(row[14]));
        return new NamedAllotment(
                (String) value(row[0]),
                pool,
                levels((String) value(row[8])),
                Duration.ofMillis(((Number) value(row[15])).longValue()),
                new Allotment(tenant, new PoolId(pool.toString()), terms),
                ((Number) value(row[7])).longValue());
    }

    /** Joined with commas, which no name of a level contains, because a native query cannot return arrays. */
    private static List<String> levels(String joined) {
        return joined.isEmpty() ? List.of() : List.of(joined.split(",", -1));
    }

    private static @Nullable Long milli(@Nullable Object column) {
        return column == null ? null : ((Number) column).longValue();
    }

    private static @Nullable Instant instant(@Nullable Object column) {
        return switch (column) {
            case null -> null;
            case Instant instant -> instant;
            case OffsetDateTime time -> time.toInstant();
            default -> throw new IllegalStateException("no time: " + column);
        };
    }

    private static Object value(@Nullable Object column) {
        if (column == null) {
            throw new IllegalStateException("a column that is never null was");
        }
        return column;
    }
}
