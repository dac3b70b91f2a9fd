package io.quartermaster.platform.contract;

import io.quarkus.smallrye.openapi.OpenApiFilter;
import io.quartermaster.platform.GpuAmount;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.eclipse.microprofile.openapi.OASFactory;
import org.eclipse.microprofile.openapi.OASFilter;
import org.eclipse.microprofile.openapi.models.Components;
import org.eclipse.microprofile.openapi.models.OpenAPI;
import org.eclipse.microprofile.openapi.models.Operation;
import org.eclipse.microprofile.openapi.models.media.Schema;
import org.jspecify.annotations.Nullable;

/**
 * Gives the amounts of GPUs in request bodies a narrower schema than those in answers: only amounts in requests are
 * bounded.
 */
@OpenApiFilter(stages = OpenApiFilter.RunStage.BUILD)
public final class ContractAmounts implements OASFilter {

    private static final String SCHEMA = "#/components/schemas/";
    private static final String TOLD = "GpuAmount";
    private static final String ASKED = "GpuAmountAsked";

    @Override
    public void filterOpenAPI(OpenAPI contract) {
        Components components = contract.getComponents();
        if (components == null || !components.getSchemas().containsKey(TOLD)) {
            throw new IllegalStateException("the contract knows no " + TOLD);
        }
        Map<String, Schema> schemas = new TreeMap<>(components.getSchemas());
        Set<String> ofRequests = new TreeSet<>();
        Deque<Schema> open = new ArrayDeque<>();
        contract.getPaths().getPathItems().values().stream()
                .flatMap(item -> item.getOperations().values().stream())
                .forEach(operation -> open.addAll(bodies(operation)));
        while (!open.isEmpty()) {
            Schema schema = open.removeFirst();
            String name = name(schema);
            if (TOLD.equals(name)) {
                schema.setRef(SCHEMA + ASKED);
            } else if (name != null && ofRequests.add(name)) {
                Optional.ofNullable(schemas.get(name)).ifPresent(open::add);
            }
            open.addAll(parts(schema));
        }
        schemas.put(
                ASKED,
                OASFactory.createSchema()
                        .addType(Schema.SchemaType.STRING)
                        .format("gpus")
                        .pattern(GpuAmount.REQUEST_PATTERN)
                        .description("GPUs, " + GpuAmount.ACCEPTED));
        components.setSchemas(schemas);
    }

    private static List<Schema> bodies(Operation operation) {
        return operation.getRequestBody() == null || operation.getRequestBody().getContent() == null
                ? List.of()
                : operation.getRequestBody().getContent().getMediaTypes().values().stream()
                        .map(type -> type.getSchema())
                        .filter(schema -> schema != null)
                        .toList();
    }

    private static @Nullable String name(Schema schema) {
        return schema.getRef() == null ? null : schema.getRef().substring(SCHEMA.length());
    }

    private static List<Schema> parts(Schema schema) {
        Deque<Schema> parts = new ArrayDeque<>();
        if (schema.getProperties() != null) {
            parts.addAll(schema.getProperties().values());
        }
        if (schema.getAllOf() != null) {
            parts.addAll(schema.getAllOf());
        }
        if (schema.getItems() != null) {
            parts.add(schema.getItems());
        }
        return List.copyOf(parts);
    }
}
