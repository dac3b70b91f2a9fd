package io.quartermaster.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion.VersionFlag;
import io.quartermaster.client.output.DocumentWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.yaml.snakeyaml.Yaml;

/** The JSON Schema that {@code qm apply --schema} prints for editors. */
class DocumentSchemaTest extends CommandTest {

    private static final JsonSchema SCHEMA =
            JsonSchemaFactory.getInstance(VersionFlag.V7).getSchema(DocumentSchema.build());

    /** If the contract changed on purpose, copy the file from {@code target} over the committed one. */
    @Test
    void committedSchemaFollowsFromTheContract() throws IOException {
        String expected = DocumentWriter.json(DocumentSchema.build()) + "\n";
        Path built = Path.of("target/documents.schema.json");
        Files.createDirectories(built.getParent());
        Files.writeString(built, expected);

        assertThat(Path.of("src/main/resources/io/quartermaster/client/documents/documents.schema.json"))
                .as("the schema of documents; %s is the one of the contract", built)
                .hasContent(expected);
    }

    @Test
    void commandsPrintTheSchema() {
        for (String command : new String[] {"apply", "tenants apply"}) {
            ClientRun.Result result = client.run((command + " --schema").split(" "));

            assertThat(result.exitCode()).as(result.err()).isZero();
            assertThat(json(result.out())).isEqualTo(DocumentSchema.build());
        }
        assertThat(api.requests()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{kind: group, name: /a}",
                "{kind: profile, name: p, spec: {gpus: 0.5, pools: [a], nodeLabels: {rack: 7}, maxRuntime: null}}",
                "{kind: policy, name: p, spec: {group: /a, quotas: [{pool: a, reserved: 8, limit: '12'}]}}",
                "{kind: queue, name: q, spec: {policy: p, profile: p, state: held}}",
                "{kind: access-rule, name: q, spec: {subjectKind: everyone}}",
                "{kind: allotment, name: a/b, spec: {reserved: 1, override: {limit: 2, until: '2026-12-01T18:00:00Z'}}}",
                "{items: [{kind: tenant, name: a, spec: {plan: standard}}]}"
            })
    void documentsAreValid(String document) {
        assertThat(SCHEMA.validate(read(document))).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{kind: grop, name: /a}",
                "{kind: policy, spec: {}}",
                "{kind: policy, name: p, spec: {gruop: /a}}",
                "{kind: policy, name: p, spec: {onPreemption: explode}}",
                "{kind: policy, name: p, spec: {quotas: [{pol: a}]}}",
                "{kind: profile, name: p, spec: {gpus: many}}",
                "{kind: group, name: /a, spec: {path: /a}}"
            })
    void wrongDocumentsAreMarked(String document) {
        assertThat(SCHEMA.validate(read(document))).isNotEmpty();
    }

    private static JsonNode read(String document) {
        return new ObjectMapper().valueToTree(new Yaml().<Object>load(document));
    }
}
