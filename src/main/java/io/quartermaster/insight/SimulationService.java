package io.quartermaster.insight;

import io.quartermaster.access.Caller;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.ConcurrencyLimiter;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Runs simulations: it accepts a few at a time and computes them one after the other. It writes nothing. */
@ApplicationScoped
class SimulationService {

    private final CellQueryExecutor cell;
    private final TenantReads reads;
    private final InsightConfig config;
    private final ConcurrencyLimiter concurrencyLimiter;

    SimulationService(CellQueryExecutor cell, TenantReads reads, InsightConfig config) {
        this.cell = cell;
        this.reads = reads;
        this.config = config;
        this.concurrencyLimiter =
                new ConcurrencyLimiter("simulations", config.simulations(), config.simulationsPerTenant());
    }

    /** Simulates changes of one tenant, and returns only that tenant's workloads. */
    Uni<SimulationApi.View> simulateForTenant(TenantId tenant, Caller caller, SimulationApi.@Nullable Request request) {
        return run(WhatIfReader.read(config, tenant, request), caller, Optional.of(tenant));
    }

    Uni<SimulationApi.View> simulateForCell(Caller caller, SimulationApi.@Nullable CellRequest request) {
        return run(WhatIfReader.read(config, request), caller, Optional.empty());
    }

    /** @param only the tenant whose workloads are shown; empty: all tenants */
    private Uni<SimulationApi.View> run(WhatIfQuestion whatIfQuestion, Caller caller, Optional<TenantId> only) {
        return concurrencyLimiter
                .runLimited(only, () -> queues(whatIfQuestion)
                        .chain(queues -> cell.query(view -> simulate(view, whatIfQuestion, caller, queues, only))))
                .chain(simulationReport -> names(simulationReport.idsByTenant()).map(simulationReport::toView));
    }

    private SimulationReport simulate(
            CellView view,
            WhatIfQuestion whatIfQuestion,
            Caller caller,
            Map<TenantId, Map<String, QueueShape>> queues,
            Optional<TenantId> only) {
        WhatIfBuilder whatIfBuilder = WhatIfBuilder.of(view.snapshot(), caller, whatIfQuestion, queues);
        WhatIf.Variation variation = whatIfBuilder.toVariation(whatIfQuestion);
        WhatIf.Result result = WhatIf.compare(
                view,
                variation,
                workload -> only.isEmpty()
                        || only.get().value().equals(workload.path().tenant()),
                whatIfQuestion.horizon(),
                config.timeLimit());
        return new SimulationReport(view.snapshot(), whatIfBuilder, variation, result, only);
    }

    private Uni<Map<TenantId, Map<String, QueueShape>>> queues(WhatIfQuestion whatIfQuestion) {
        Map<TenantId, Uni<Map<String, QueueShape>>> queries = new TreeMap<>();
        whatIfQuestion.tenants().forEach(one -> queries.put(one.tenant(), reads.queues(one.tenant(), one.queues())));
        return readSequentially(queries);
    }

    private Uni<Map<UUID, TenantReads.WorkloadName>> names(Map<TenantId, List<UUID>> ids) {
        Map<TenantId, Uni<Map<UUID, TenantReads.WorkloadName>>> queries = new TreeMap<>();
        ids.forEach((tenant, some) -> queries.put(tenant, reads.workloadNames(tenant, some)));
        return readSequentially(queries).map(byTenant -> {
            Map<UUID, TenantReads.WorkloadName> all = new HashMap<>();
            byTenant.values().forEach(all::putAll);
            return all;
        });
    }

    /** Reads from each tenant in a transaction of its own. */
    private static <T> Uni<Map<TenantId, T>> readSequentially(Map<TenantId, Uni<T>> queries) {
        return Multi.createFrom()
                .iterable(new ArrayList<>(queries.entrySet()))
                .onItem()
                .transformToUniAndConcatenate(entry -> entry.getValue()
                        .map((Function<T, Map.Entry<TenantId, T>>) found -> Map.entry(entry.getKey(), found)))
                .collect()
                .asMap(Map.Entry::getKey, Map.Entry::getValue);
    }
}
