package io.quartermaster.insight;

import io.quartermaster.access.Caller;
import io.quartermaster.platform.http.Places;
import io.quartermaster.platform.TenantId;
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

/** Answers what-if questions, a few at a time and one after the other. Nothing is written. */
@ApplicationScoped
class SimulationService {

    private final LiveCell cell;
    private final TenantReads reads;
    private final InsightConfig config;
    private final Places places;

    SimulationService(LiveCell cell, TenantReads reads, InsightConfig config) {
        this.cell = cell;
        this.reads = reads;
        this.config = config;
        this.places = new Places("simulations", config.simulations(), config.simulationsPerTenant());
    }

    /** A tenant varies and sees its own only. */
    Uni<SimulationApi.View> ofTenant(TenantId tenant, Caller caller, SimulationApi.@Nullable Request request) {
        return run(QuestionReader.read(config, tenant, request), caller, Optional.of(tenant));
    }

    Uni<SimulationApi.View> ofCell(Caller caller, SimulationApi.@Nullable CellRequest request) {
        return run(QuestionReader.read(config, request), caller, Optional.empty());
    }

    /** @param only whose work the answer shows; empty: everybody's */
    private Uni<SimulationApi.View> run(Question question, Caller caller, Optional<TenantId> only) {
        return places.in(only, () -> queues(question)
                        .chain(queues -> cell.ask(view -> work(view, question, caller, queues, only))))
                .chain(answer -> names(answer.ids()).map(answer::named));
    }

    private Answer work(
            CellView view,
            Question question,
            Caller caller,
            Map<TenantId, Map<String, QueueShape>> queues,
            Optional<TenantId> only) {
        Hypothesis hypothesis = Hypothesis.of(view.snapshot(), caller, question, queues);
        WhatIf.Otherwise otherwise = hypothesis.otherwise(question);
        WhatIf.Result result = WhatIf.compare(
                view,
                otherwise,
                workload -> only.isEmpty()
                        || only.get().value().equals(workload.path().tenant()),
                question.horizon(),
                config.timeLimit());
        return new Answer(view.snapshot(), hypothesis, otherwise, result, only);
    }

    private Uni<Map<TenantId, Map<String, QueueShape>>> queues(Question question) {
        Map<TenantId, Uni<Map<String, QueueShape>>> asked = new TreeMap<>();
        question.tenants().forEach(one -> asked.put(one.tenant(), reads.queues(one.tenant(), one.queues())));
        return oneAfterTheOther(asked);
    }

    private Uni<Map<UUID, TenantReads.Named>> names(Map<TenantId, List<UUID>> ids) {
        Map<TenantId, Uni<Map<UUID, TenantReads.Named>>> asked = new TreeMap<>();
        ids.forEach((tenant, some) -> asked.put(tenant, reads.workloads(tenant, some)));
        return oneAfterTheOther(asked).map(byTenant -> {
            Map<UUID, TenantReads.Named> all = new HashMap<>();
            byTenant.values().forEach(all::putAll);
            return all;
        });
    }

    /** Each is a transaction of its own. */
    private static <T> Uni<Map<TenantId, T>> oneAfterTheOther(Map<TenantId, Uni<T>> asked) {
        return Multi.createFrom()
                .iterable(new ArrayList<>(asked.entrySet()))
                .onItem()
                .transformToUniAndConcatenate(entry -> entry.getValue()
                        .map((Function<T, Map.Entry<TenantId, T>>) found -> Map.entry(entry.getKey(), found)))
                .collect()
                .asMap(Map.Entry::getKey, Map.Entry::getValue);
    }
}
