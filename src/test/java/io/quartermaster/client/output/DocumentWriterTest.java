package io.quartermaster.client.output;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import org.junit.jupiter.api.Test;

class DocumentWriterTest {

    private static final String DOCUMENT = """
            {"b":"1","a":["yes",{"x":null,"n":3},[]],"time":"2026-12-01T08:00:00Z","big":123456789012345678901,"part":0.25,\
            "lines":"one\\ntwo","flag":true,"empty":{}}
            """;

    @Test
    void yamlReadsBackAsTheSameDocument() throws Exception {
        JsonNode document = new ObjectMapper().readTree(DOCUMENT);

        String yaml = DocumentWriter.yaml(document);

        assertThat(new YAMLMapper().readTree(yaml).toString()).isEqualTo(document.toString());
        assertThat(yaml).startsWith("b: '1'\na:\n");
    }

    @Test
    void jsonReadsBackAsTheSameDocumentWithOneFieldPerLine() throws Exception {
        JsonNode document = new ObjectMapper().readTree(DOCUMENT);

        String json = DocumentWriter.json(document);

        assertThat(new ObjectMapper().readTree(json).toString()).isEqualTo(document.toString());
        assertThat(json.lines().limit(2)).containsExactly("{", "  \"b\" : \"1\",");
    }
}
