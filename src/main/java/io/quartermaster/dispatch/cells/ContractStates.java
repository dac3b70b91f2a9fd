package io.quartermaster.dispatch.cells;

import io.quarkus.smallrye.openapi.OpenApiFilter;
import io.quartermaster.dispatch.commit.PendingReasons;
import io.quartermaster.dispatch.lifecycle.AttemptStopReason;
import io.quartermaster.dispatch.read.QuarantinedWorkloads;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.EvictionCause;
import io.quartermaster.engine.model.EvictionReceipt;
import io.quartermaster.engine.model.Reason;
import io.quartermaster.platform.EnumNames;
import io.quartermaster.workloads.WorkloadAttemptState;
import io.quartermaster.workloads.WorkloadState;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.eclipse.microprofile.openapi.OASFactory;
import org.eclipse.microprofile.openapi.OASFilter;
import org.eclipse.microprofile.openapi.models.Components;
import org.eclipse.microprofile.openapi.models.OpenAPI;
import org.eclipse.microprofile.openapi.models.media.Schema;

/**
 * Adds the words of workload lifecycles that are no enums of the API to the contract: states, and the codes of reasons,
 * rules and causes. Fields refer to these schemas by name. The leader writes all of these words, so this class collects
 * them from their sources. It runs after the filter that turns the constants of enums into words, because the codes of
 * reasons are written as they are.
 */
@OpenApiFilter(stages = OpenApiFilter.RunStage.BUILD, priority = 0)
public final class ContractStates implements OASFilter {

    @Override
    public void filterOpenAPI(OpenAPI contract) {
        Components components = contract.getComponents();
        if (components == null) {
            throw new IllegalStateException("the contract has no schemas");
        }
        Map<String, Schema> all = new TreeMap<>(components.getSchemas());
        all.putAll(schemas());
        components.setSchemas(all);
    }

    private static Map<String, Schema> schemas() {
        Map<String, Schema> schemas = new TreeMap<>(words());
        schemas.put(
                "WaitReasonCodes",
                OASFactory.createSchema()
                        .addType(Schema.SchemaType.ARRAY)
                        .description("Codes of reasons.")
                        .items(OASFactory.createSchema().ref("#/components/schemas/WaitReasonCode")));
        return schemas;
    }

    private static Map<String, Schema> words() {
        return Map.of(
                "WorkloadState",
                words("The current state of a workload.", states(WorkloadState.class)),
                "WorkloadStates",
                OASFactory.createSchema()
                        .addType(Schema.SchemaType.ARRAY)
                        .description("States of workloads.")
                        .items(OASFactory.createSchema().ref("#/components/schemas/WorkloadState")),
                "WorkloadAttemptState",
                words(
                        "The current state of an attempt. It holds its devices from `bound` until `ended`.",
                        states(WorkloadAttemptState.class)),
                "StopReason",
                words("Why an attempt was asked to stop.", constants(AttemptStopReason.class)),
                "PreemptionCause",
                words("Why the scheduler stops a running workload.", constants(EvictionCause.class)),
                "PreemptionRight",
                words("The rule that allows the preemption.", constants(EvictionReceipt.Right.class)),
                "ConsideredOutcome",
                words(
                        "What a preemption did to a workload: stopped it, moved it to another place, or spared it "
                                + "because its stop proved unnecessary.",
                        constants(EvictionReceipt.Outcome.class)),
                "StartRule",
                words("The rule by which an attempt holds its devices.", constants(Decision.Rule.class)),
                "WaitReasonCode",
                words(
                        "Why a workload waits.",
                        Stream.concat(
                                        Arrays.stream(Reason.Code.values()).map(Enum::name),
                                        Stream.of(
                                                PendingReasons.QUEUE_HELD,
                                                PendingReasons.RETRY,
                                                QuarantinedWorkloads.CODE))
                                .toList()));
    }

    private static List<String> constants(Class<? extends Enum<?>> type) {
        return Arrays.stream(type.getEnumConstants()).map(EnumNames::of).toList();
    }

    /** The words of a sealed interface's states, in the order in which it lists them. */
    private static List<String> states(Class<?> family) {
        return Arrays.stream(family.getPermittedSubclasses())
                .flatMap(ContractStates::leaves)
                .distinct()
                .map(ContractStates::word)
                .toList();
    }

    private static Stream<Class<?>> leaves(Class<?> type) {
        return type.isSealed()
                ? Arrays.stream(type.getPermittedSubclasses()).flatMap(ContractStates::leaves)
                : Stream.of(type);
    }

    private static String word(Class<?> state) {
        try {
            Object instance = state.getRecordComponents().length == 0
                    ? state.getDeclaredConstructor().newInstance()
                    : state.getDeclaredConstructors()[0].newInstance(new Object[state.getRecordComponents().length]);
            return (String) state.getMethod("word").invoke(instance);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("the word for state " + state + " cannot be read", e);
        }
    }

    private static Schema words(String description, List<String> words) {
        return OASFactory.createSchema()
                .addType(Schema.SchemaType.STRING)
                .description(description)
                .enumeration(List.copyOf(words));
    }
}
