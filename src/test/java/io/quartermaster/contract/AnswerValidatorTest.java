package io.quartermaster.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.contract.AnswerValidator.Answer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class AnswerValidatorTest {

    private static final String PROBLEM = "application/problem+json;charset=UTF-8";
    private static final String NOT_FOUND = "{\"type\":\"urn:quartermaster:problem:not-found\",\"title\":\"Not "
            + "found\",\"status\":404,\"code\":\"not-found\",\"detail\":\"There is none.\"}";
    private static final String POOL = "/v1/operator/pools/fast";

    @Test
    void documentedProblemIsAccepted() {
        assertThat(findings("GET", POOL + "?a=b", 404, PROBLEM, NOT_FOUND)).isEmpty();
    }

    @Test
    void statusThatTheOperationDoesNotHaveIsNamed() {
        assertThat(findings("GET", POOL, 418, PROBLEM, NOT_FOUND))
                .startsWith("GET /v1/operator/pools/{pool} (getPool) answered 418: the status is not documented");
    }

    @Test
    void mediaTypeThatTheStatusDoesNotHaveIsNamed() {
        assertThat(findings("GET", POOL, 404, "application/json", NOT_FOUND))
                .contains("the media type is application/json, documented is [application/problem+json]");
        assertThat(findings("GET", POOL, 404, null, "")).contains("the media type is null");
    }

    @Test
    void missingFieldIsNamedByItsPlace() {
        assertThat(findings("GET", POOL, 404, PROBLEM, NOT_FOUND.replace("\"code\"", "\"kode\"")))
                .contains("answered 404: /: ", "'code'", "'kode'");
    }

    @Test
    void fieldOfAnotherTypeIsNamedByItsPointer() {
        assertThat(findings(
                        "GET",
                        POOL,
                        400,
                        PROBLEM,
                        NOT_FOUND.replace("404", "400").replace("}", ",\"errors\":[{\"field\":\"a\",\"message\":1}]}")))
                .contains("/errors/0/message: integer found, string expected");
    }

    @Test
    void problemThatStatesAnotherStatusIsNamed() {
        assertThat(findings("GET", POOL, 403, PROBLEM, NOT_FOUND)).contains("/status: ");
    }

    @Test
    void bodyWhereNoneIsDocumentedIsNamed() {
        assertThat(findings("DELETE", POOL, 204, null, "")).isEmpty();
        assertThat(findings("DELETE", POOL, 204, "text/plain", "gone")).contains("the answer has a body");
    }

    @Test
    void requestsThatTheContractDoesNotHaveAreProblemsOfFewStatuses() {
        assertThat(findings("GET", "/v1/nothing", 404, PROBLEM, NOT_FOUND)).isEmpty();
        assertThat(findings("DELETE", "/v1/operator/pools", 405, PROBLEM, NOT_FOUND.replace("404", "405")))
                .isEmpty();
        assertThat(findings("BREW", POOL, 501, PROBLEM, NOT_FOUND.replace("404", "501")))
                .isEmpty();
        assertThat(findings("POST", POOL, 501, PROBLEM, NOT_FOUND.replace("404", "501")))
                .contains("not answered by this status");
        assertThat(findings("GET", "/v1/nothing", 200, "application/json", "{}"))
                .startsWith("GET /v1/nothing (no operation) answered 200: the contract has no such operation");
        assertThat(findings("DELETE", "/v1/operator/pools", 404, "text/html", "<p>"))
                .contains("the media type is text/html");
    }

    @Test
    void stepThatIsNoPlaceIsPreferredToOneThatIs() {
        assertThat(findings("GET", "/v1/tenants/a/workloads/watch", 200, "application/json", "{}"))
                .contains("(watchWorkloads)", "text/event-stream");
    }

    @Test
    void eventIsComparedToo() {
        String watch = "/v1/tenants/{tenant}/workloads/watch";

        assertThat(AnswerValidator.committed().eventFindings(watch, "{\"state\":\"lost\"}"))
                .anyMatch(finding -> finding.startsWith("/state: "));
        assertThat(AnswerValidator.committed().eventFindings("/v1/operator/pools", "{}"))
                .containsExactly("/v1/operator/pools has no events");
    }

    private static String findings(
            String method, String address, int status, @Nullable String contentType, String body) {
        return String.join(
                "\n", AnswerValidator.committed().findings(new Answer(method, address, status, contentType, body)));
    }
}
