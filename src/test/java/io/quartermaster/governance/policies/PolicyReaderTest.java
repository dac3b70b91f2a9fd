package io.quartermaster.governance.policies;

import static io.quartermaster.governance.RulesFixture.acme;
import static io.quartermaster.governance.RulesFixture.policy;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.quartermaster.governance.rules.Policy;
import io.quartermaster.platform.http.JsonSettings;
import io.quartermaster.platform.http.Problem;
import io.quartermaster.platform.http.ProblemException;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PolicyReaderTest {

    @ParameterizedTest
    @ValueSource(strings = {"/..", "/rnd/.", "/rnd/../ops", "/./rnd"})
    void noPolicyIsMadeForAGroupThatKeycloakCannotHave(String group) throws JsonProcessingException {
        assertThat(errors(group, Optional.empty())).singleElement().satisfies(error -> assertThat(error.field())
                .isEqualTo("group"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"/...", "/rnd/.hidden", "/v1.2", "/a..b"})
    void dotsWithinAStepAreFine(String group) throws JsonProcessingException {
        assertThat(errors(group, Optional.empty())).isEmpty();
    }

    @Test
    void aPolicyThatHasSuchAGroupCanStillBeChanged() throws JsonProcessingException {
        assertThat(errors("/rnd/..", Optional.of(policy("/rnd/..")))).isEmpty();
    }

    private static List<Problem.Field> errors(String group, Optional<Policy> old) throws JsonProcessingException {
        PolicyApi.Request request = JsonSettings.newMapper()
                .readValue(
                        "{\"name\": \"" + old.map(Policy::name).orElse("some") + "\", \"group\": \"" + group + "\"}",
                        PolicyApi.Request.class);
        var problems = new ProblemException.Invalid();
        new PolicyReader(acme(), problems).policy(request, old);
        return problems.isEmpty() ? List.of() : problems.toException().problem().errors();
    }
}
