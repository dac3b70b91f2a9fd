package io.quartermaster.platform.contract;

import io.quarkus.smallrye.openapi.OpenApiFilter;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.openapi.OASFilter;
import org.eclipse.microprofile.openapi.models.OpenAPI;
import org.eclipse.microprofile.openapi.models.Operation;
import org.eclipse.microprofile.openapi.models.media.MediaType;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/**
 * Adds to the contract an example of each body, from {@code contract/examples.yaml}. The tests send the same bodies.
 */
@OpenApiFilter(stages = OpenApiFilter.RunStage.BUILD, priority = -1)
public final class ContractExamples implements OASFilter {

    private static final String RESOURCE = "/contract/examples.yaml";
    private static final String NAMES = "names";

    private final Map<String, Object> byOperation;
    private final Map<String, String> names = new LinkedHashMap<>();

    public ContractExamples() {
        this.byOperation = load();
        if (byOperation.remove(NAMES) instanceof Map<?, ?> given) {
            given.forEach((name, value) -> names.put("{" + name + "}", String.valueOf(value)));
        }
    }

    @Override
    public void filterOpenAPI(OpenAPI contract) {
        contract.getPaths().getPathItems().values().stream()
                .flatMap(item -> item.getOperations().values().stream())
                .filter(operation -> operation.getRequestBody() != null)
                .forEach(this::show);
    }

    private void show(Operation operation) {
        Object example = byOperation.get(operation.getOperationId());
        if (example != null && operation.getRequestBody().getContent() != null) {
            for (MediaType type :
                    operation.getRequestBody().getContent().getMediaTypes().values()) {
                type.setExample(filled(example));
            }
        }
    }

    private @Nullable Object filled(@Nullable Object value) {
        return switch (value) {
            case Map<?, ?> object -> {
                Map<Object, @Nullable Object> filled = new LinkedHashMap<>();
                object.forEach((key, each) -> filled.put(filled(key), filled(each)));
                yield filled;
            }
            case List<?> list -> list.stream().map(this::filled).toList();
            case String text -> names.getOrDefault(text, text);
            case null, default -> value;
        };
    }

    private static Map<String, Object> load() {
        try (InputStream in = ContractExamples.class.getResourceAsStream(RESOURCE)) {
            return new Yaml(new SafeConstructor(new LoaderOptions())).load(in);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
