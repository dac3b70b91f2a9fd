package io.quartermaster.governance.policies;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** The rules of a plan are checked when the service starts, by the checks of the API. */
class PlanRulesTest {

    private static final String GOOD = """
            allotments: [{pool: h100, reserved: "2", limit: "4"}]
            profiles: [{name: one, gpus: "1", pools: [h100]}]
            policies: [{name: all, group: /all, quotas: [{pool: h100, reserved: "1"}], profiles: [one]}]
            """;

    @Test
    void rulesThatFitPass() {
        assertThatCode(() -> check(GOOD)).doesNotThrowAnyException();
        assertThatCode(() -> check("{}")).doesNotThrowAnyException();
    }

    @Test
    void misspeltKeysAreRefusedByName() {
        assertThatThrownBy(() -> check(GOOD.replace("reserved", "reservd"))).hasMessageContaining("reservd");
        assertThatThrownBy(() -> check(GOOD.replace("policies", "politics"))).hasMessageContaining("politics");
    }

    @Test
    void poolsAndProfilesThatThePlanDoesNotHaveAreRefused() {
        assertThatThrownBy(() -> check(GOOD.replace("pools: [h100]", "pools: [a100]")))
                .hasMessageContaining("pools[0]");
        assertThatThrownBy(() -> check(GOOD.replace("profiles: [one]", "profiles: [two]")))
                .hasMessageContaining("there is no profile two");
    }

    @Test
    void policiesThatReserveMoreThanThePlanGrantsAreRefused() {
        assertThatThrownBy(() -> check(GOOD.replace("reserved: \"1\"", "reserved: \"3\"")))
                .hasMessageContaining("quotas[0].reserved");
    }

    @Test
    void workersThatTogetherHaveMoreGpusThanAnybodyMayAskForAreRefused() {
        String wide = GOOD.replace("gpus: \"1\"", "gpus: \"1000\", minWorkers: 1, workers: ");
        assertThatThrownBy(() -> check(wide.replace("workers: ,", "workers: 1001,")))
                .hasMessageContaining("workers the workers would have more than 1000000 GPUs together");
        // The remaining objection is about the policy: it may not hold even one worker.
        assertThatThrownBy(() -> check(wide.replace("workers: ,", "workers: 1000,")))
                .hasMessageContaining("could never run");
    }

    private static void check(String yaml) {
        JsonNode value =
                new ObjectMapper().valueToTree(new Yaml(new SafeConstructor(new LoaderOptions())).<Object>load(yaml));
        new PlanRules().check(value);
    }
}
