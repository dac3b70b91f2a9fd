package io.quartermaster.contract;

import static io.restassured.RestAssured.given;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.quarkus.test.junit.QuarkusTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.stream.Collectors;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Test;
import org.openapitools.openapidiff.core.OpenApiCompare;
import org.openapitools.openapidiff.core.model.ChangedOpenApi;

/**
 * The service serves the committed contract, which is compatible with the baseline.
 *
 * <p>{@code -Dqm.contract.update=true} rewrites {@code openapi/openapi.yaml}. {@code -Dqm.contract.baseline=true} makes
 * it the new baseline as well: until 1.0, an incompatible change needs this option and a line in the change log;
 * afterwards it is not allowed.
 */
@QuarkusTest
class ContractIT {

    private static final Path COMMITTED = Contract.COMMITTED;
    private static final Path BASELINE = Path.of("openapi", "baseline.yaml");
    private static final String REFRESH =
            "./mvnw verify -Dquarkus.build.skip=true -Dtest=NoUnitTests -Dsurefire.failIfNoSpecifiedTests=false "
                    + "-Dit.test=ContractIT -Dqm.contract.update=true";

    @Test
    void servedContractIsTheCommittedOne() throws IOException {
        String served = served();
        if (Boolean.getBoolean("qm.contract.update") || Boolean.getBoolean("qm.contract.baseline")) {
            Files.createDirectories(COMMITTED.getParent());
            Files.writeString(COMMITTED, served);
        }
        assertThat(served)
                .as("the API changed: look at the change, then write the contract anew with\n  %s", REFRESH)
                .isEqualTo(Files.readString(COMMITTED));
    }

    @Test
    void servedContractBreaksNobodyWhoBuiltOnTheBaseline() throws IOException {
        String served = served();
        if (Boolean.getBoolean("qm.contract.baseline")) {
            Files.writeString(BASELINE, served);
        }
        ChangedOpenApi changes = OpenApiCompare.fromContents(Files.readString(BASELINE), served);

        assertThat(changes.isIncompatible())
                .as(
                        "clients of the baseline break; operations gone: %s, operations changed: %s",
                        changes.getMissingEndpoints(),
                        changes.getChangedOperations().stream()
                                .filter(change -> change.isIncompatible())
                                .map(change -> change.getHttpMethod() + " " + change.getPathUrl())
                                .toList())
                .isFalse();
    }

    @Test
    void comparisonNoticesWhatBreaksClients() {
        String served = served();

        assertThat(OpenApiCompare.fromContents(served, served.replace("/{workload}/explain", "/{workload}/why"))
                        .isIncompatible())
                .as("a route that is gone")
                .isTrue();
        assertThat(OpenApiCompare.fromContents(served, served.replace("aheadInQueue:", "ahead:"))
                        .isIncompatible())
                .as("a field that is gone")
                .isTrue();
        assertThat(OpenApiCompare.fromContents(served.replace("info:", "info:\n  description: other words"), served)
                        .isIncompatible())
                .as("other words only")
                .isFalse();
    }

    @Test
    void everyOperationSaysWhatItIsAndWhoMayCallIt() {
        Contract contract = Contract.served();
        SoftAssertions softly = new SoftAssertions();
        for (Contract.Call call : contract.calls()) {
            softly.assertThat(call.id()).as("id of %s", call).matches("[a-z][A-Za-z]+");
            softly.assertThat(call.summary()).as("summary of %s", call).isNotBlank();
            softly.assertThat(call.tags()).as("tags of %s", call).hasSize(1);
            if (call.needsToken()) {
                softly.assertThat(call.permission())
                        .as("x-permission of %s", call)
                        .matches(call.ofCaller() ? "" : "[a-z-]+:[a-z-]+");
                softly.assertThat(call.statuses()).as("answers of %s", call).contains("401", "403", "404");
            }
            softly.assertThat(call.statuses())
                    .as("answers of %s", call)
                    .contains("400", "429")
                    .anyMatch(status -> status.startsWith("2"));
        }
        softly.assertThat(contract.calls().stream().map(Contract.Call::id).collect(Collectors.toSet()))
                .as("every id stands for one operation")
                .hasSize(contract.calls().size());
        softly.assertThat(contract.calls().stream()
                        .flatMap(call -> call.tags().stream())
                        .collect(Collectors.toSet()))
                .as("tags are plural nouns, written alike")
                .allMatch(tag -> tag.matches("[A-Z][a-z]+( [a-z]+)*"));
        softly.assertAll();
    }

    /** The generator numbers classes with one simple name, so that a new class would rename others. */
    @Test
    void noSchemaHasANumberedName() {
        assertThat(Contract.served().document().at("/components/schemas").fieldNames())
                .toIterable()
                .allMatch(name -> name.matches("[A-Z]+[A-Za-z]*"));
    }

    @Test
    void amountsThatAreAskedForAreBoundedAndThoseThatAreToldAreNot() {
        JsonNode schemas = Contract.served().document().at("/components/schemas");
        String asked =
                schemas.at("/PolicyQuotaRequest/properties/reserved/pattern").asText();
        String told = schemas.at("/PolicyQuota/properties/reserved/pattern").asText();

        assertThat("1000000.001").matches(asked).matches(told);
        assertThat("123456789.25").doesNotMatch(asked).matches(told);
        assertThat("-0.5").doesNotMatch(asked).matches(told);
    }

    @Test
    void everyEnumIsWrittenInTheWordsOfTheApi() {
        Set<String> words = Contract.served().enumWords();

        assertThat(words)
                .isNotEmpty()
                .as("codes of reasons are written as constants, everything else in words")
                .allMatch(word -> word.matches("[a-z0-9]+(-[a-z0-9]+)*|[A-Z]+(_[A-Z]+)*"));
    }

    private static String served() {
        return given().get("/openapi").then().statusCode(200).extract().asString();
    }
}
