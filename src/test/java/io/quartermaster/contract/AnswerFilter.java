package io.quartermaster.contract;

import io.quarkus.test.junit.callback.QuarkusTestAfterAllCallback;
import io.quarkus.test.junit.callback.QuarkusTestAfterEachCallback;
import io.quarkus.test.junit.callback.QuarkusTestBeforeClassCallback;
import io.quarkus.test.junit.callback.QuarkusTestContext;
import io.quarkus.test.junit.callback.QuarkusTestMethodContext;
import io.restassured.RestAssured;
import io.restassured.filter.Filter;
import io.restassured.filter.FilterContext;
import io.restassured.response.Response;
import io.restassured.specification.FilterableRequestSpecification;
import io.restassured.specification.FilterableResponseSpecification;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.eclipse.microprofile.config.ConfigProvider;
import org.jspecify.annotations.Nullable;

/**
 * Compares every answer that RestAssured gets from the API with the contract, in every {@code @QuarkusTest}. A test
 * that got answers which the contract does not have fails at its end and lists them all. The test's own assertions and
 * requests stay as they are.
 */
public final class AnswerFilter
        implements Filter, QuarkusTestBeforeClassCallback, QuarkusTestAfterEachCallback, QuarkusTestAfterAllCallback {

    private static final Set<String> FINDINGS = ConcurrentHashMap.newKeySet();

    @Override
    public void beforeClass(Class<?> testClass) {
        if (RestAssured.filters().stream().noneMatch(AnswerFilter.class::isInstance)) {
            RestAssured.filters(this);
        }
    }

    @Override
    public Response filter(
            FilterableRequestSpecification request, FilterableResponseSpecification expected, FilterContext context) {
        Response response = context.next(request, expected);
        if (isForService(request.getURI())) {
            String type = response.contentType();
            boolean streams = type != null && type.startsWith("text/event-stream");
            AnswerValidator.Answer answer = new AnswerValidator.Answer(
                    request.getMethod(),
                    request.getURI(),
                    response.statusCode(),
                    type == null || type.isEmpty() ? null : type,
                    streams ? "" : response.asString());
            if (answer.isOfApi()) {
                FINDINGS.addAll(AnswerValidator.committed().findings(answer));
            }
        }
        return response;
    }

    @Override
    public void afterEach(QuarkusTestMethodContext context) {
        failOnFindings();
    }

    /** Checks also the requests before the first test and after the last one. */
    @Override
    public void afterAll(QuarkusTestContext context) {
        failOnFindings();
    }

    private static void failOnFindings() {
        List<String> found = new ArrayList<>(FINDINGS);
        if (!found.isEmpty()) {
            FINDINGS.clear();
            throw new AssertionError(
                    found.size() + " answers that openapi/openapi.yaml does not have:\n" + String.join("\n", found));
        }
    }

    private static boolean isForService(@Nullable String address) {
        return address != null
                && URI.create(ConfigProvider.getConfig().getValue("test.url", String.class))
                                .getPort()
                        == port(address);
    }

    /** The port of an address; addresses in these tests are not always valid URIs. */
    private static int port(String address) {
        String host = address.replaceFirst("^[a-z]+://", "").replaceFirst("[/?#].*$", "");
        int colon = host.lastIndexOf(':');
        return colon < 0 ? -1 : Integer.parseInt(host.substring(colon + 1));
    }
}
