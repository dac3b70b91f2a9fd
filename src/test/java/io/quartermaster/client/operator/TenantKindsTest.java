package io.quartermaster.client.operator;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.client.ContractSchemas;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** The fields of the operator's documents are those of the contract, with their types. */
class TenantKindsTest {

    private static Set<String> with(Predicate<JsonNode> condition) {
        return ContractSchemas.fieldsWith(List.of("TenantRequest", "AllotmentRequest"), condition);
    }

    @Test
    void fieldsHaveTheTypesOfTheContract() {
        assertThat(TenantKinds.NUMBERS)
                .isEqualTo(with(field -> field.path("type").asText().equals("integer")));
        assertThat(TenantKinds.FLAGS)
                .isEqualTo(with(field -> field.path("type").asText().equals("boolean")));
        assertThat(TenantKinds.AMOUNTS)
                .isEqualTo(with(field -> field.path("format").asText().equals("gpus")));
        assertThat(with(field -> field.path("format").asText().equals("duration")))
                .isEmpty();
        assertThat(with(field -> field.has("additionalProperties"))).isEmpty();
        assertThat(TenantKinds.INSTANTS)
                .isEqualTo(ContractSchemas.fieldsWith(
                        List.of("Allotment"),
                        field -> field.path("format").asText().equals("date-time")));
    }
}
