package io.quartermaster.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quarkus.oidc.OIDCException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class OperatorTokensTest {

    private final OperatorTokens tokens = new OperatorTokens((IdentityConfig) Proxy.newProxyInstance(
            IdentityConfig.class.getClassLoader(),
            new Class<?>[] {IdentityConfig.class},
            (proxy, method, arguments) -> Duration.ofMillis(1)));

    private boolean areAccepted() {
        return tokens.areAccepted().await().atMost(Duration.ofSeconds(10));
    }

    @Test
    void aCheckThatKeycloakDidNotAnswerLeavesItOpen() {
        tokens.keepState();

        assertThatThrownBy(this::areAccepted).isInstanceOf(OperatorTokens.Unconfirmed.class);
        tokens.accept();
        assertThat(areAccepted()).isTrue();
        tokens.refuse();
        assertThat(areAccepted()).isFalse();
    }

    @Test
    void theCallerLearnsWhatTheServiceWaitsFor() {
        RuntimeException wrapped = new IllegalStateException(new OperatorTokens.Unconfirmed());

        assertThat(AccessFilter.keycloakUnavailable(wrapped).problem().detail())
                .isEqualTo("the service has not yet confirmed the operator's realm; send the request again in a few"
                        + " seconds");
        assertThat(AccessFilter.keycloakUnavailable(new OIDCException("no keys"))
                        .problem()
                        .detail())
                .startsWith("Keycloak does not answer");
        assertThat(AccessFilter.keycloakUnavailable(wrapped).problem().code()).isEqualTo("identity-unavailable");
    }
}
