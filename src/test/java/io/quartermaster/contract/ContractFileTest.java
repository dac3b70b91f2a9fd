package io.quartermaster.contract;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion.VersionFlag;
import io.swagger.parser.OpenAPIParser;
import io.swagger.v3.parser.core.models.ParseOptions;
import io.swagger.v3.parser.core.models.SwaggerParseResult;
import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/**
 * The committed contract is a valid OpenAPI document. {@link ContractIT} shows that the service serves this document.
 */
class ContractFileTest {

    /** The values of a changed field, which may have any type. */
    private static final Set<String> OF_ANY_TYPE = Set.of("FieldChange.before", "FieldChange.after");

    @Test
    void contractIsValidAgainstTheSchemaOfOpenApi() throws IOException {
        JsonSchema schema;
        try (InputStream in = ContractFileTest.class.getResourceAsStream("/contract/openapi-3.0-schema.json")) {
            schema = JsonSchemaFactory.getInstance(VersionFlag.V4).getSchema(in);
        }

        assertThat(schema.validate(Contract.committed().document()))
                .as("findings in %s", Contract.COMMITTED)
                .isEmpty();
    }

    @Test
    void parserOfGeneratorsReadsTheContractWithoutAMessage() {
        ParseOptions options = new ParseOptions();
        options.setResolve(true);

        SwaggerParseResult read = new OpenAPIParser().readContents(Contract.committedText(), null, options);

        assertThat(read.getMessages()).isEmpty();
        assertThat(read.getOpenAPI().getPaths()).isNotEmpty();
    }

    @Test
    void everyOperationIsDescribedWithItsParametersAndTypedAnswers() {
        Contract contract = Contract.committed();
        SoftAssertions softly = new SoftAssertions();
        operations(contract.document()).forEach((id, operation) -> {
            softly.assertThat(operation.path("summary").asText())
                    .as("summary of %s", id)
                    .isNotBlank();
            softly.assertThat(operation.path("description").asText())
                    .as("description of %s: add it to the method or to descriptions.yaml", id)
                    .isNotBlank();
            operation.path("parameters").forEach(parameter -> softly.assertThat(
                            parameter.path("description").asText())
                    .as(
                            "description of parameter %s of %s",
                            parameter.path("name").asText(), id)
                    .isNotBlank());
            operation
                    .path("parameters")
                    .forEach(parameter -> requireTypes(
                            softly, parameter.path("name").asText() + " of " + id, parameter.path("schema")));
            operation.path("responses").properties().forEach(response -> {
                String status = response.getKey();
                JsonNode answer = contract.resolved(response.getValue());
                softly.assertThat(answer.path("description").asText())
                        .as("description of %s of %s", status, id)
                        .isNotBlank();
                String problem = "/content/application~1problem+json/schema/$ref";
                if (status.startsWith("2")) {
                    softly.assertThat(status.equals("204")
                                    || !answer.path("content").isEmpty()
                                            && answer.path("content").findValues("schema").stream()
                                                    .noneMatch(JsonNode::isEmpty))
                            .as("%s of %s has a schema", status, id)
                            .isTrue();
                } else {
                    softly.assertThat(answer.at(problem).asText())
                            .as("%s of %s is a problem", status, id)
                            .isEqualTo("#/components/schemas/Problem");
                }
            });
        });
        softly.assertAll();
    }

    @Test
    void everySchemaAndEveryFieldIsDescribedAndTyped() {
        JsonNode schemas = Contract.committed().document().at("/components/schemas");
        SoftAssertions softly = new SoftAssertions();
        schemas.properties().forEach(schema -> {
            softly.assertThat(schema.getValue().path("description").asText())
                    .as("description of the schema %s", schema.getKey())
                    .isNotBlank();
            requireTypes(softly, schema.getKey(), schema.getValue());
            schema.getValue().path("properties").properties().forEach(field -> softly.assertThat(field.getValue()
                                    .has("$ref")
                            || !field.getValue().path("description").asText().isBlank())
                    .as(
                            "description of %s.%s: annotate it or add it to descriptions.yaml",
                            schema.getKey(), field.getKey())
                    .isTrue());
        });
        softly.assertAll();
    }

    private static void requireTypes(SoftAssertions softly, String where, JsonNode schema) {
        boolean composed = schema.has("$ref") || schema.has("allOf") || schema.has("oneOf");
        softly.assertThat(composed || schema.has("type") || OF_ANY_TYPE.contains(where))
                .as("type of %s", where)
                .isTrue();
        if (schema.path("type").asText().equals("object")) {
            softly.assertThat(schema.has("properties") || schema.has("additionalProperties"))
                    .as("fields of the object %s", where)
                    .isTrue();
        }
        schema.path("properties")
                .properties()
                .forEach(field -> requireTypes(softly, where + "." + field.getKey(), field.getValue()));
        if (schema.has("items")) {
            requireTypes(softly, where + "[]", schema.get("items"));
        }
    }

    @Test
    void everyBodyHasAnExampleThatItsSchemaAccepts() {
        Contract contract = Contract.committed();
        SoftAssertions softly = new SoftAssertions();
        for (Contract.Call call : contract.calls()) {
            if (call.takesBody()) {
                JsonNode example = Objects.requireNonNull(
                                operations(contract.document()).get(call.id()))
                        .at("/requestBody/content/application~1json/example");
                softly.assertThat(example.isMissingNode())
                        .as("%s has no example: add it to examples.yaml", call)
                        .isFalse();
                softly.assertThat(contract.findings(call.bodySchema(), example))
                        .as("the example of %s against its schema", call)
                        .isEmpty();
            }
        }
        softly.assertAll();
    }

    @Test
    void everyTextAndEveryExampleIsForSomethingThatTheContractHas() throws IOException {
        JsonNode document = Contract.committed().document();
        Map<String, JsonNode> operations = operations(document);
        JsonNode schemas = document.at("/components/schemas");
        Map<String, Map<String, Object>> texts = yaml("/contract/descriptions.yaml");
        Set<String> fields = new TreeSet<>();
        schemas.properties().forEach(schema -> schema.getValue()
                .path("properties")
                .fieldNames()
                .forEachRemaining(field -> {
                    fields.add(field);
                    fields.add(schema.getKey() + "." + field);
                }));
        Set<String> parameters = new TreeSet<>();
        operations.forEach((id, operation) -> operation.path("parameters").forEach(parameter -> {
            parameters.add(parameter.path("name").asText());
            parameters.add(id + "." + parameter.path("name").asText());
        }));
        Set<String> names = new TreeSet<>();
        schemas.fieldNames().forEachRemaining(names::add);

        assertThat(fields).as("described fields").containsAll(named(texts, "fields"));
        assertThat(parameters).as("described parameters").containsAll(named(texts, "parameters"));
        assertThat(names).as("described schemas").containsAll(named(texts, "schemas"));
        assertThat(operations.keySet())
                .as("described operations and those with examples")
                .containsAll(named(texts, "operations"))
                .containsAll(yaml("/contract/examples.yaml").keySet().stream()
                        .filter(key -> !key.equals("names"))
                        .toList());
    }

    private static Set<String> named(Map<String, Map<String, Object>> texts, String part) {
        return Objects.requireNonNull(texts.get(part), part).keySet();
    }

    /** Operations by their ids, each with the parameters of its path. */
    private static Map<String, JsonNode> operations(JsonNode document) {
        Map<String, JsonNode> found = new TreeMap<>();
        document.path("paths").forEach(item -> item.properties().forEach(entry -> {
            if (entry.getValue().has("operationId")) {
                ObjectNode operation = entry.getValue().deepCopy();
                ArrayNode parameters = operation.withArray("parameters");
                item.path("parameters").forEach(parameters::add);
                found.put(operation.path("operationId").asText(), operation);
            }
        }));
        return found;
    }

    private static Map<String, Map<String, Object>> yaml(String resource) throws IOException {
        try (InputStream in = ContractFileTest.class.getResourceAsStream(resource)) {
            return new Yaml(new SafeConstructor(new LoaderOptions())).load(in);
        }
    }
}
