package io.quartermaster.platform.filters;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ServedMethodsTest {

    private final ServedMethods served = new ServedMethods(List.of(
            "GET /v1/things", "POST /v1/things", "GET /v1/things/{thing}", "DELETE /v1/things/{thing}/parts/{part}/"));

    @Test
    void aPathHasTheMethodsOfAllRoutesThatFit() {
        assertThat(served.methodsOf("/v1/things")).containsExactly("GET", "HEAD", "OPTIONS", "POST");
        assertThat(served.methodsOf("/v1/things/")).containsExactly("GET", "HEAD", "OPTIONS", "POST");
        assertThat(served.methodsOf("/v1/things/a.b")).containsExactly("GET", "HEAD", "OPTIONS");
        assertThat(served.methodsOf("/v1/things/a/parts/b")).containsExactly("DELETE", "OPTIONS");
    }

    @Test
    void whereNothingIsServedThereIsNoMethod() {
        assertThat(served.methodsOf("/v1/things/a/parts")).isEmpty();
        assertThat(served.methodsOf("/v1/thing")).isEmpty();
        assertThat(served.methodsOf("/")).isEmpty();
    }
}
