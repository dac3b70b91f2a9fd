package io.quartermaster.platform.writes;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.util.Set;
import org.junit.jupiter.api.Test;

class WriteParamsTest {

    private static final URI POLICY = URI.create("http://localhost/v1/tenants/acme/policies/rnd");

    @Test
    void sameRequestHasTheSameFingerprintThroughWhicheverHost() {
        URI elsewhere = URI.create("https://quartermaster.example/v1/tenants/acme/policies/rnd");

        assertThat(WriteParams.fingerprint("PUT", elsewhere, "\"1\"", "{}"))
                .isEqualTo(WriteParams.fingerprint("PUT", POLICY, "\"1\"", "{}"));
    }

    @Test
    void methodQueryPreconditionAndBodyEachMakeAnotherRequest() {
        URI cancelling = URI.create(POLICY + "?onWaiting=cancel");
        URI moving = URI.create(POLICY + "?onWaiting=move");

        assertThat(Set.of(
                        WriteParams.fingerprint("PUT", POLICY, null, "null"),
                        WriteParams.fingerprint("DELETE", POLICY, null, "null"),
                        WriteParams.fingerprint("DELETE", cancelling, null, "null"),
                        WriteParams.fingerprint("DELETE", moving, null, "null"),
                        WriteParams.fingerprint("DELETE", POLICY, "\"1\"", "null"),
                        WriteParams.fingerprint("DELETE", POLICY, null, "{}")))
                .hasSize(6);
    }
}
