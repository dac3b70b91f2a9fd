package io.quartermaster.dispatch.read;

import io.quartermaster.access.GroupPath;
import io.quartermaster.capacity.grants.Allotment;
import io.quartermaster.capacity.grants.QuotaOverrideApi;
import io.quartermaster.capacity.grants.QuotaTerms;
import io.quartermaster.engine.model.CapacityReservationId;
import io.quartermaster.engine.model.ConcurrencyCaps;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.ReservationWindow;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.governance.rules.Policy;
import io.quartermaster.governance.rules.PolicyQuota;
import io.quartermaster.governance.rules.PreemptionAction;
import io.quartermaster.governance.rules.QuotaTreeBuilder;
import io.quartermaster.governance.rules.SubmissionRights;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemTransaction;
import io.vertx.mutiny.sqlclient.Row;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * The allotments and policies of one tenant for the engine: the nodes of its quota trees, the place of each policy in
 * them, and the reserved amounts.
 *
 * @param paths by policy, including retired ones, whose workloads may still run
 * @param groups by policy, including retired ones
 * @param suspendedPaths the paths of policies whose group no longer exists in the realm
 * @param allotments the allotments that the other values are derived from, with pools by name
 * @param policies the policies that are not retired, with pools by name
 * @param calendar capacity reservations that are not over, of the tenant and of policies that are not retired
 */
public record QuotaFacts(
        TenantId tenant,
        boolean suspended,
        Set<QuotaPath> suspendedPaths,
        Map<UUID, QuotaPath> paths,
        Map<UUID, String> groups,
        List<Quota> quotas,
        List<ConcurrencyCaps> caps,
        List<Level> levels,
        List<Allotment> allotments,
        List<Policy> policies,
        List<ReservationWindow> calendar) {

    /** The reserved amount in a pool, of the tenant (no policy) or of a policy. */
    public record Level(UUID pool, @Nullable UUID policy, long gpuMilli) {}

    /** The tenant's reserved amounts, by pool. */
    public Map<UUID, Long> reserved() {
        Map<UUID, Long> reserved = new TreeMap<>();
        levels.stream()
                .filter(level -> level.policy() == null)
                .forEach(level -> reserved.put(level.pool(), level.gpuMilli()));
        return reserved;
    }

    /**
     * By policy, the pools in which its own quotas, or those of groups above it, keep its workloads from reclaiming all
     * that they otherwise could.
     */
    public Map<UUID, List<PoolId>> fences() {
        Map<UUID, List<PoolId>> fences = new TreeMap<>();
        for (UUID policy : quotas.stream().anyMatch(Quota::fence) ? paths.keySet() : Set.<UUID>of()) {
            List<PoolId> pools = allotments.stream()
                    .map(Allotment::pool)
                    .filter(pool -> isFenced(policy, pool))
                    .toList();
            if (!pools.isEmpty()) {
                fences.put(policy, pools);
            }
        }
        return fences;
    }

    private boolean isFenced(UUID policy, PoolId pool) {
        QuotaPath path = paths.get(policy);
        return path != null
                && quotas.stream()
                        .anyMatch(quota -> quota.fence()
                                && quota.path().segments().size() > 1
                                && quota.path().covers(path)
                                && (quota.scope().equals(Scope.ALL_POOLS)
                                        || quota.scope().equals(Scope.of(pool))));
    }

    /**
     * The next moment after this one at which a capacity reservation changes the tenant's reserved amounts, or those of
     * its policies.
     */
    public OptionalLong nextTransition(long millis) {
        LongStream ofWindows =
                calendar.stream().flatMapToLong(each -> LongStream.of(each.fromMillis(), each.untilMillis()));
        LongStream ofQuotas =
                quotas.stream().flatMap(quota -> quota.transitions().stream()).mapToLong(Quota.Transition::atMillis);
        return LongStream.concat(ofWindows, ofQuotas)
                .filter(moment -> moment > millis)
                .min();
    }

    private static QuotaFacts of(
            TenantId tenant,
            boolean suspended,
            Set<QuotaPath> suspendedPaths,
            Map<UUID, QuotaPath> paths,
            Map<UUID, String> groups,
            List<Level> levels,
            List<Allotment> allotments,
            List<Policy> policies,
            List<ReservationWindow> calendar,
            boolean allPools) {
        return new QuotaFacts(
                tenant,
                suspended,
                Set.copyOf(suspendedPaths),
                Map.copyOf(paths),
                Map.copyOf(groups),
                quotas(tenant, paths, allotments, policies, allPools),
                caps(tenant, policies),
                List.copyOf(levels),
                List.copyOf(allotments),
                List.copyOf(policies),
                List.copyOf(calendar));
    }

    /** The tenant with other terms. The levels for the ledger stay those of the present terms. */
    QuotaFacts with(List<Allotment> otherAllotments, List<Policy> otherPolicies, boolean allPools) {
        return of(
                tenant,
                suspended,
                suspendedPaths,
                paths,
                groups,
                levels,
                otherAllotments,
                otherPolicies,
                calendar,
                allPools);
    }

    private static List<Quota> quotas(
            TenantId tenant,
            Map<UUID, QuotaPath> paths,
            List<Allotment> allotments,
            List<Policy> policies,
            boolean allPools) {
        QuotaTreeBuilder tree = allPools
                ? QuotaTreeBuilder.withAllPools(tenant, allotments, policies)
                : QuotaTreeBuilder.of(tenant, allotments, policies);
        List<Quota> quotas = new ArrayList<>(tree.quotas());
        new TreeSet<>(paths.values()).forEach(path -> allotments.stream()
                .map(allotment -> Scope.of(allotment.pool()))
                .filter(scope -> policies.stream().noneMatch(policy -> QuotaTreeBuilder.path(tenant, policy.group())
                        .equals(path)))
                // A retired policy reserves nothing: its workloads that still run are over-quota.
                .forEach(scope -> quotas.add(Quota.reserving(path, scope, 0))));
        return List.copyOf(quotas);
    }

    private static List<ConcurrencyCaps> caps(TenantId tenant, List<Policy> policies) {
        return policies.stream()
                .filter(policy -> policy.userLimitGpuMilli().isPresent()
                        || policy.maxRunning().isPresent())
                .map(policy -> new ConcurrencyCaps(
                        QuotaTreeBuilder.path(tenant, policy.group()), policy.userLimitGpuMilli(), policy.maxRunning()))
                .toList();
    }

    /** Whether any policy of the cell counts over all pools: then every tenant is in that quota tree. */
    public static boolean anyCountsAllPools(SystemTransaction transaction) {
        return transaction.run("""
                        select exists (select 1 from policy_quota q join policy p on p.tenant_id = q.tenant_id
                            and p.id = q.policy_id
                                        where q.pool_id is null and p.retired_at is null) as found
                        """).iterator().next().getBoolean("found");
    }

    /**
     * Reads the tenants that are not quarantined.
     *
     * @param stamp the moment whose reserved amounts the ledger receives
     */
    public static List<QuotaFacts> read(
            SystemTransaction transaction, OffsetDateTime stamp, Collection<TenantId> tenants, boolean allPools) {
        if (tenants.isEmpty()) {
            return List.of();
        }
        String[] asked = tenants.stream().map(TenantId::value).toArray(String[]::new);
        Map<TenantId, Builder> byTenant = new TreeMap<>();
        for (Row row : transaction.run(
                "select id, state from tenant where id = any($1) and set_aside_at is null", (Object) asked)) {
            TenantId tenant = new TenantId(row.getString("id"));
            byTenant.put(
                    tenant, new Builder(tenant, !row.getString("state").equals("active"), CellReader.millis(stamp)));
        }
        String[] ids = byTenant.keySet().stream().map(TenantId::value).toArray(String[]::new);
        for (Row row : transaction.run("""
                select a.*, p.name as pool_name from allotment a join pool p on p.id = a.pool_id
                 where a.tenant_id = any($1) order by a.tenant_id, p.name
                """, (Object) ids)) {
            of(byTenant, row).addAllotment(row);
        }
        for (Row row : transaction.run("""
                select q.*, p.name as pool_name from policy_quota q
                  join policy o on o.tenant_id = q.tenant_id and o.id = q.policy_id left join pool p on p.id = q.pool_id
                 where q.tenant_id = any($1) and o.retired_at is null order by q.tenant_id, q.policy_id,
                     p.name nulls first
                """, (Object) ids)) {
            of(byTenant, row).addQuota(row);
        }
        for (Row row : transaction.run(
                "select * from policy where tenant_id = any($1) order by tenant_id, group_path, id", (Object) ids)) {
            of(byTenant, row).addPolicy(row);
        }
        for (Row row : transaction.run("""
                select c.*, p.name as pool_name, o.group_path from capacity_reservation c
                    join pool p on p.id = c.pool_id
                  left join policy o on o.tenant_id = c.tenant_id and o.id = c.policy_id
                 where c.tenant_id = any($1) and c.ends_at > $2 and o.retired_at is null order by c.tenant_id, c.id
                """, ids, stamp)) {
            of(byTenant, row).addReservation(row);
        }
        return byTenant.values().stream().map(each -> each.build(allPools)).toList();
    }

    private static Builder of(Map<TenantId, Builder> byTenant, Row row) {
        Builder found = byTenant.get(new TenantId(row.getString("tenant_id")));
        if (found == null) {
            throw new IllegalStateException("a row of a tenant that is not there: " + row.getString("tenant_id"));
        }
        return found;
    }

    /** Collects the rows of one tenant. */
    private static final class Builder {
        private final TenantId tenant;
        private final boolean suspended;
        private final long stampMillis;
        private final List<Allotment> allotments = new ArrayList<>();
        private final List<Policy> policies = new ArrayList<>();
        private final Map<UUID, List<PolicyQuota>> granted = new HashMap<>();
        private final Set<QuotaPath> suspendedPaths = new TreeSet<>();
        private final Map<UUID, QuotaPath> paths = new TreeMap<>();
        private final Map<UUID, String> groups = new TreeMap<>();
        private final List<Level> levels = new ArrayList<>();
        private final List<ReservationWindow> calendar = new ArrayList<>();

        /** @param stampMillis the moment whose reserved amounts the ledger receives */
        Builder(TenantId tenant, boolean suspended, long stampMillis) {
            this.stampMillis = stampMillis;
            this.tenant = tenant;
            this.suspended = suspended;
        }

        void addAllotment(Row row) {
            QuotaTerms terms = terms(row);
            allotments.add(new Allotment(tenant, new PoolId(row.getString("pool_name")), terms));
            levels.add(new Level(
                    row.getUUID("pool_id"), null, terms.effectiveAt(stampMillis).reservedGpuMilli()));
        }

        void addQuota(Row row) {
            UUID policy = row.getUUID("policy_id");
            String pool = row.getString("pool_name");
            Scope scope = pool == null ? Scope.ALL_POOLS : Scope.of(new PoolId(pool));
            QuotaTerms terms = terms(row);
            granted.computeIfAbsent(policy, id -> new ArrayList<>()).add(new PolicyQuota(scope, terms));
            UUID poolId = row.getUUID("pool_id");
            if (poolId != null) {
                levels.add(
                        new Level(poolId, policy, terms.effectiveAt(stampMillis).reservedGpuMilli()));
            }
        }

        void addReservation(Row row) {
            UUID policy = row.getUUID("policy_id");
            ReservationWindow reservation = new ReservationWindow(
                    new CapacityReservationId(row.getUUID("id").toString()),
                    policy == null
                            ? QuotaPath.of(tenant.value())
                            : QuotaTreeBuilder.path(tenant, new GroupPath(row.getString("group_path"))),
                    new PoolId(row.getString("pool_name")),
                    row.getLong("gpu_milli"),
                    row.getBoolean("lendable"),
                    CellReader.millis(row.getOffsetDateTime("starts_at")),
                    CellReader.millis(row.getOffsetDateTime("ends_at")));
            calendar.add(reservation);
            if (reservation.isOpenAt(stampMillis)) {
                UUID pool = row.getUUID("pool_id");
                levels.replaceAll(level -> level.pool().equals(pool) && Objects.equals(level.policy(), policy)
                        ? new Level(pool, policy, level.gpuMilli() + reservation.gpuMilli())
                        : level);
            }
        }

        void addPolicy(Row row) {
            UUID id = row.getUUID("id");
            GroupPath group = new GroupPath(row.getString("group_path"));
            paths.put(id, QuotaTreeBuilder.path(tenant, group));
            groups.put(id, group.value());
            if (row.getOffsetDateTime("retired_at") == null) {
                if (row.getOffsetDateTime("drift_since") != null) {
                    suspendedPaths.add(QuotaTreeBuilder.path(tenant, group));
                }
                policies.add(new Policy(
                        id,
                        row.getString("name"),
                        group,
                        granted.getOrDefault(id, List.of()),
                        row.getBoolean("over_quota"),
                        PreemptionAction.REQUEUE,
                        row.getLong("grace_ms"),
                        optional(row.getLong("user_limit_milli")),
                        optional(row.getInteger("max_running")),
                        new SubmissionRights(
                                optional(row.getInteger("max_priority")), row.getBoolean("non_preemptible")),
                        Optional.empty(),
                        row.getLong("version")));
            }
        }

        QuotaFacts build(boolean allPools) {
            return of(
                    tenant, suspended, suspendedPaths, paths, groups, levels, allotments, policies, calendar, allPools);
        }

        private QuotaTerms terms(Row row) {
            return new QuotaTerms(
                    row.getLong("reserved_milli"),
                    optional(row.getLong("limit_milli")),
                    optional(row.getInteger("weight")),
                    optional(row.getLong("lendable_milli")),
                    row.getInteger("rank"),
                    QuotaOverrideApi.stored(
                            row.getLong("override_reserved_milli"),
                            row.getLong("override_limit_milli"),
                            instant(row.getOffsetDateTime("override_from")),
                            instant(row.getOffsetDateTime("override_until")),
                            Instant.ofEpochMilli(stampMillis)),
                    QuotaOverrideApi.millis(instant(row.getOffsetDateTime("drain_by"))),
                    row.getBoolean("fence"));
        }

        private static @Nullable Instant instant(@Nullable OffsetDateTime time) {
            return time == null ? null : time.toInstant();
        }

        private static OptionalInt optional(@Nullable Integer value) {
            return value == null ? OptionalInt.empty() : OptionalInt.of(value);
        }

        private static OptionalLong optional(@Nullable Long value) {
            return value == null ? OptionalLong.empty() : OptionalLong.of(value);
        }
    }
}
