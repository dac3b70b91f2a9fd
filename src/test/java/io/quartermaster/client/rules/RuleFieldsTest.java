package io.quartermaster.client.rules;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.client.ContractSchemas;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** The fields of documents are those of the contract, with their types. */
class RuleFieldsTest {

    private static final List<String> BODIES =
            List.of("ProfileRequest", "PolicyRequest", "QueueRequest", "AccessRuleRequest");

    private static Set<String> with(Predicate<JsonNode> condition) {
        return ContractSchemas.fieldsWith(BODIES, condition);
    }

    private static Predicate<JsonNode> type(String type) {
        return field -> field.path("type").asText().equals(type);
    }

    private static Predicate<JsonNode> format(String format) {
        return field -> field.path("format").asText().equals(format);
    }

    @Test
    void everyKindHasTheFieldsOfItsBody() {
        Map.of(
                        "profile",
                        "ProfileRequest",
                        "policy",
                        "PolicyRequest",
                        "queue",
                        "QueueRequest",
                        "access-rule",
                        "AccessRuleRequest")
                .forEach((kind, body) -> {
                    List<String> fields = new ArrayList<>(ContractSchemas.fields(body));
                    fields.remove("name");
                    assertThat(RuleFields.OF_KIND.get(kind)).as(kind).containsExactlyInAnyOrderElementsOf(fields);
                });
    }

    @Test
    void fieldsHaveTheTypesOfTheContract() {
        assertThat(RuleFields.NUMBERS).isEqualTo(with(type("integer")));
        assertThat(RuleFields.FLAGS).isEqualTo(with(type("boolean")));
        assertThat(RuleFields.AMOUNTS).isEqualTo(with(format("gpus")));
        assertThat(RuleFields.DURATIONS).isEqualTo(with(format("duration")));
        assertThat(RuleFields.FREE_MAPS).isEqualTo(with(field -> field.has("additionalProperties")));
        assertThat(RuleFields.INSTANTS)
                .isEqualTo(ContractSchemas.fieldsWith(List.of("PolicyQuota"), format("date-time")));
    }
}
