package io.quartermaster.insight;

import io.quartermaster.capacity.grants.Allotment;
import io.quartermaster.capacity.grants.OversubscriptionWarning;
import io.quartermaster.capacity.grants.QuotaTerms;
import io.quartermaster.dispatch.read.CellSnapshot;
import io.quartermaster.engine.model.EvictionCause;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Reason;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.simulation.Forecast;
import io.quartermaster.insight.SimulationApi.PoolUse;
import io.quartermaster.insight.SimulationApi.StopCause;
import io.quartermaster.insight.SimulationApi.Use;
import io.quartermaster.platform.GpuAmount;
import io.quartermaster.platform.TenantId;
import io.quartermaster.workloads.WorkloadApi;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The result of a simulation in the form of the API.
 *
 * @param only the tenant whose workloads are shown; empty: all tenants, for an operator
 */
record SimulationReport(
        CellSnapshot snapshot,
        WhatIfBuilder builder,
        WhatIf.Variation variation,
        WhatIf.Result result,
        Optional<TenantId> only) {

    static final int MAX_DIFFERENCES = 1_000;

    private List<WhatIf.Difference> shownDifferences() {
        return result.differences().stream().limit(MAX_DIFFERENCES).toList();
    }

    /** The workloads with another fate, by tenant. */
    Map<TenantId, List<UUID>> idsByTenant() {
        Map<TenantId, List<UUID>> ids = new TreeMap<>();
        for (WhatIf.Difference difference : shownDifferences()) {
            ids.computeIfAbsent(new TenantId(difference.workload().path().tenant()), tenant -> new ArrayList<>())
                    .add(id(difference.workload()));
        }
        return ids;
    }

    private static UUID id(Workload workload) {
        return UUID.fromString(workload.id().value());
    }

    /**
     * Adds names to the report.
     *
     * @param names read in the tenants' own transactions; workloads without a name there are left out
     */
    SimulationApi.View toView(Map<UUID, TenantReads.WorkloadName> names) {
        List<SimulationApi.Difference> differences = new ArrayList<>();
        for (WhatIf.Difference difference : shownDifferences()) {
            TenantReads.WorkloadName named = names.get(id(difference.workload()));
            if (named != null) {
                differences.add(new SimulationApi.Difference(
                        id(difference.workload()),
                        tenant(difference.workload().path().tenant()),
                        named.name(),
                        named.queue(),
                        fate(difference.before()),
                        fate(difference.after())));
            }
        }
        return new SimulationApi.View(
                Instant.ofEpochMilli(result.asOfMillis()),
                Instant.ofEpochMilli(result.untilMillis()),
                result.complete(),
                predicted(),
                differences,
                result.differences().size() - shownDifferences().size(),
                pools(),
                warnings());
    }

    /** The warnings that the changed allotments and policies would produce. */
    private List<String> warnings() {
        Map<PoolId, Long> capacity = PoolAmounts.of(snapshot, variation.changes());
        return builder.changedPools().stream()
                .flatMap(pool ->
                        OversubscriptionWarning.warnings(
                                pool.value(), reservedAfter(pool), capacity.getOrDefault(pool, 0L))
                                .stream())
                .toList();
    }

    private @Nullable String tenant(String id) {
        return only.isPresent() ? null : id;
    }

    private List<SimulationApi.Predicted> predicted() {
        List<SimulationApi.Predicted> predicted = new ArrayList<>();
        for (int i = 0; i < result.added().size(); i++) {
            WhatIf.PredictedRun run = result.added().get(i);
            WhatIfBuilder.WorkloadLabel named = builder.labels().get(i);
            predicted.add(new SimulationApi.Predicted(
                    tenant(named.tenant().value()),
                    named.name(),
                    startsAt(run),
                    pool(run),
                    stopsAt(run),
                    stopCause(run),
                    run.why().stream()
                            .flatMap(waitReasons -> waitReasons.perPool().stream())
                            .map(this::reason)
                            .toList()));
        }
        return predicted;
    }

    private static SimulationApi.Fate fate(WhatIf.PredictedRun run) {
        return new SimulationApi.Fate(
                startsAt(run),
                pool(run),
                stopsAt(run),
                stopCause(run),
                run.why().map(waitReasons -> waitReasons.reason().code().name()).orElse(null));
    }

    private static @Nullable Instant startsAt(WhatIf.PredictedRun run) {
        return run.start().map(start -> Instant.ofEpochMilli(start.atMillis())).orElse(null);
    }

    private static @Nullable String pool(WhatIf.PredictedRun run) {
        return run.start().map(start -> start.pool().value()).orElse(null);
    }

    private static @Nullable Instant stopsAt(WhatIf.PredictedRun run) {
        return run.stop().map(stop -> Instant.ofEpochMilli(stop.atMillis())).orElse(null);
    }

    private static @Nullable StopCause stopCause(WhatIf.PredictedRun run) {
        return run.stop().map(stop -> cause(stop.cause())).orElse(null);
    }

    private static StopCause cause(EvictionCause evictionCause) {
        return switch (evictionCause) {
            case RECLAIM -> StopCause.RECLAIM;
            case PREEMPT -> StopCause.PREEMPT;
            case CONSOLIDATE -> StopCause.CONSOLIDATE;
            case DRAIN -> StopCause.DRAIN;
            case CLOSE -> StopCause.CLOSE;
            case BUDGET -> StopCause.BUDGET;
            case INCOMPLETE -> throw new IllegalStateException("a simulation runs no workload below its minimum");
            case ASKED -> throw new IllegalStateException("no plan stops a workload with the cause ASKED");
        };
    }

    /**
     * The reason as the tenant may see it. The used amount of a pool includes other tenants, so it is shown only with a
     * bound of the tenant's own.
     */
    private WorkloadApi.Reason reason(Reason reason) {
        Reason.Numbers numbers = reason.numbers();
        return new WorkloadApi.Reason(
                reason.pool().value(),
                reason.code().name(),
                reason.path().map(QuotaPath::group).orElse(null),
                decimal(numbers.requestedGpuMilli()),
                only.isPresent() && numbers.boundGpuMilli().isEmpty() ? null : decimal(numbers.usedGpuMilli()),
                numbers.boundGpuMilli().isPresent()
                        ? decimal(numbers.boundGpuMilli().getAsLong())
                        : null,
                decimal(numbers.freeGpuMilli()),
                reason.sentence(),
                reason.remedy());
    }

    private static String decimal(long gpuMilli) {
        return new GpuAmount(gpuMilli).decimal();
    }

    private List<PoolUse> pools() {
        Map<PoolId, Long> capacityBefore = PoolAmounts.of(snapshot, List.of());
        Map<PoolId, Long> capacityAfter = PoolAmounts.of(snapshot, variation.changes());
        List<PoolUse> pools = new ArrayList<>();
        for (PoolId pool : poolsShown()) {
            pools.add(new PoolUse(
                    pool.value(),
                    use(pool, result.before(), capacityBefore, reservedBefore(pool)),
                    use(pool, result.after(), capacityAfter, reservedAfter(pool)),
                    only.map(tenant -> result.after().atFirst().in(pool)
                                    > result.after().atFirst().of(pool, tenant.value()))
                            .orElse(null)));
        }
        return pools;
    }

    private SortedSet<PoolId> poolsShown() {
        if (only.isEmpty()) {
            return new TreeSet<>(snapshot.pools().keySet());
        }
        SortedSet<PoolId> pools = new TreeSet<>();
        snapshot.terms(only.get()).ifPresent(terms -> terms.allotments().forEach(one -> pools.add(one.pool())));
        builder.terms(only.get()).allotments().forEach(one -> pools.add(one.pool()));
        return pools;
    }

    private Use use(PoolId pool, Forecast forecast, Map<PoolId, Long> capacity, long reservedGpuMilli) {
        return new Use(
                only.isPresent() ? null : new GpuAmount(capacity.getOrDefault(pool, 0L)),
                new GpuAmount(reservedGpuMilli),
                new GpuAmount(held(pool, forecast.atFirst())),
                new GpuAmount(held(pool, forecast.atLast())));
    }

    private long held(PoolId pool, Forecast.Held held) {
        return only.map(tenant -> held.of(pool, tenant.value())).orElseGet(() -> held.in(pool));
    }

    private long reservedBefore(PoolId pool) {
        return tenants().stream()
                .mapToLong(tenant -> snapshot.terms(tenant)
                        .map(terms -> reserved(terms, pool))
                        .orElse(0L))
                .sum();
    }

    private long reservedAfter(PoolId pool) {
        List<QuotaTerms> all = tenants().stream()
                .flatMap(tenant -> builder.terms(tenant).allotments().stream())
                .filter(one -> one.pool().equals(pool))
                .map(Allotment::terms)
                .toList();
        return OversubscriptionWarning.maxReserved(all, result.asOfMillis(), Long.MAX_VALUE);
    }

    private List<TenantId> tenants() {
        return only.map(List::of).orElseGet(snapshot::tenants);
    }

    private static long reserved(CellSnapshot.Terms terms, PoolId pool) {
        return terms.allotments().stream()
                .filter(one -> one.pool().equals(pool))
                .map(Allotment::terms)
                .mapToLong(one -> one.reservedGpuMilli())
                .sum();
    }
}
