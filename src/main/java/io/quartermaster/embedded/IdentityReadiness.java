package io.quartermaster.embedded;

import io.smallrye.health.api.AsyncHealthCheck;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Optional;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Readiness;

/**
 * Says whether people can sign in: {@code starting} until Keycloak answered once, then {@code up}, or {@code away} when it stopped doing so.
 *
 * <p>The service is ready all the same: tokens it can verify are honoured, work goes on, and taking every replica out of service because
 * of a third party would make a small outage a large one.
 */
@Readiness
@ApplicationScoped
class IdentityReadiness implements AsyncHealthCheck {

    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private final Optional<URI> realm;
    private final HttpClient client =
            HttpClient.newBuilder().connectTimeout(PATIENCE).build();
    private volatile boolean answeredOnce;

    IdentityReadiness(@ConfigProperty(name = ServiceProperties.KEYCLOAK_URL) Optional<String> url) {
        this.realm = url.map(base -> URI.create(base + "/realms/master"));
    }

    @Override
    public Uni<HealthCheckResponse> call() {
        return realm.map(this::ask)
                .orElse(Uni.createFrom().item("not configured"))
                .map(state -> HealthCheckResponse.named("identity")
                        .up()
                        .withData("state", state)
                        .build());
    }

    private Uni<String> ask(URI address) {
        HttpRequest request = HttpRequest.newBuilder(address).timeout(PATIENCE).build();
        return Uni.createFrom()
                .completionStage(() -> client.sendAsync(request, HttpResponse.BodyHandlers.discarding()))
                .map(answer -> answer.statusCode() == 200)
                .onFailure()
                .recoverWithItem(false)
                .map(this::state);
    }

    private String state(boolean answers) {
        if (answers) {
            answeredOnce = true;
            return "up";
        }
        return answeredOnce ? "away" : "starting";
    }
}
