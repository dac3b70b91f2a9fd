package io.quartermaster.platform.contract;

import io.quarkus.smallrye.openapi.OpenApiFilter;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.eclipse.microprofile.openapi.OASFactory;
import org.eclipse.microprofile.openapi.OASFilter;
import org.eclipse.microprofile.openapi.models.Components;
import org.eclipse.microprofile.openapi.models.OpenAPI;
import org.eclipse.microprofile.openapi.models.Operation;
import org.eclipse.microprofile.openapi.models.media.Schema;
import org.eclipse.microprofile.openapi.models.media.Schema.SchemaType;
import org.eclipse.microprofile.openapi.models.parameters.Parameter;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/**
 * Adds the descriptions of {@code contract/descriptions.yaml} to the contract where no annotation states one. It runs
 * last. It copies named scalars, such as {@code Instant}, into the fields that use them, because OpenAPI 3.0 allows no
 * description beside a reference.
 */
@OpenApiFilter(stages = OpenApiFilter.RunStage.BUILD, priority = -1)
public final class ContractDescriptions implements OASFilter {

    private static final String RESOURCE = "/contract/descriptions.yaml";
    private static final String SCHEMA = "#/components/schemas/";

    private final Map<String, String> parameters;
    private final Map<String, String> operations;
    private final Map<String, String> schemas;
    private final Map<String, String> fields;

    public ContractDescriptions() {
        Map<String, Map<String, String>> all = load();
        this.parameters = part("parameters", all);
        this.operations = part("operations", all);
        this.schemas = part("schemas", all);
        this.fields = part("fields", all);
    }

    @Override
    public void filterOpenAPI(OpenAPI contract) {
        Components components = contract.getComponents();
        if (components == null) {
            throw new IllegalStateException("the contract has no schemas");
        }
        Map<String, Schema> all = new TreeMap<>(components.getSchemas());
        Map<String, Schema> scalars = new TreeMap<>(all);
        scalars.values().removeIf(schema -> !isScalar(schema));
        all.keySet().removeAll(scalars.keySet());
        all.forEach((name, schema) -> {
            if (schema.getDescription() == null) {
                schema.setDescription(schemas.get(name));
            }
            describeFields(name, schema, scalars);
        });
        components.setSchemas(all);
        contract.getPaths().getPathItems().values().forEach(item -> {
            List<Parameter> shared = item.getParameters() == null ? List.of() : item.getParameters();
            item.getOperations().values().forEach(operation -> {
                describe(operation);
                shared.forEach(parameter -> describe(operation, parameter, scalars));
            });
        });
        contract.getPaths().getPathItems().values().stream()
                .flatMap(item -> item.getOperations().values().stream())
                .filter(operation -> operation.getParameters() != null)
                .forEach(operation ->
                        operation.getParameters().forEach(parameter -> describe(operation, parameter, scalars)));
    }

    private static Map<String, String> part(String name, Map<String, Map<String, String>> all) {
        return Objects.requireNonNull(all.get(name), name);
    }

    private static boolean isScalar(Schema schema) {
        return schema.getType() != null
                && !schema.getType().contains(SchemaType.OBJECT)
                && !schema.getType().contains(SchemaType.ARRAY)
                && schema.getEnumeration() == null;
    }

    private void describeFields(String name, Schema schema, Map<String, Schema> scalars) {
        if (schema.getItems() != null) {
            schema.setItems(written(schema.getItems(), scalars));
        }
        if (schema.getProperties() == null) {
            return;
        }
        Map<String, Schema> properties = schema.getProperties();
        properties.forEach((field, declared) -> {
            Schema property = written(declared, scalars);
            String own = fields.get(name + "." + field);
            if (own != null) {
                property.setDescription(own);
            } else if (property.getDescription() == null) {
                property.setDescription(fields.get(field));
            }
            if (property.getItems() != null) {
                property.setItems(written(property.getItems(), scalars));
            }
            schema.addProperty(field, property);
        });
    }

    /** The field's schema with the named scalar copied into it; what the field states itself has precedence. */
    private static Schema written(Schema declared, Map<String, Schema> scalars) {
        if (declared.getRef() == null) {
            return declared;
        }
        Schema scalar = scalars.get(declared.getRef().substring(SCHEMA.length()));
        if (scalar == null) {
            // The type comes from the referenced schema: beside the reference, the generator writes "object" for an
            // enum.
            return declared.type(null);
        }
        Schema copy = copy(scalar).description(declared.getDescription());
        if (declared.getExample() != null) {
            copy.setExample(String.valueOf(declared.getExample()));
        } else if (declared.getExamples() != null && !declared.getExamples().isEmpty()) {
            copy.setExample(String.valueOf(declared.getExamples().getFirst()));
        }
        return copy;
    }

    private static Schema copy(Schema scalar) {
        return OASFactory.createSchema()
                .type(scalar.getType())
                .format(scalar.getFormat())
                .pattern(scalar.getPattern())
                .minLength(scalar.getMinLength())
                .maxLength(scalar.getMaxLength())
                .example(scalar.getExample())
                .description(scalar.getDescription());
    }

    private void describe(Operation operation) {
        if (operation.getDescription() == null) {
            operation.setDescription(operations.get(Objects.requireNonNull(operation.getOperationId())));
        }
    }

    private void describe(Operation operation, Parameter parameter, Map<String, Schema> scalars) {
        if (parameter.getSchema() != null) {
            parameter.setSchema(written(parameter.getSchema(), scalars));
        }
        String own = parameters.get(operation.getOperationId() + "." + parameter.getName());
        String general = parameters.get(Objects.requireNonNull(parameter.getName()));
        if (parameter.getDescription() == null) {
            parameter.setDescription(own != null ? own : general);
        }
    }

    private static Map<String, Map<String, String>> load() {
        try (InputStream in = ContractDescriptions.class.getResourceAsStream(RESOURCE)) {
            return new Yaml(new SafeConstructor(new LoaderOptions())).load(in);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
