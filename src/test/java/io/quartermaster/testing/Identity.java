package io.quartermaster.testing;

import io.quartermaster.embedded.ServiceProperties;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.eclipse.microprofile.config.ConfigProvider;

/** Keycloak as tests meet it. */
public final class Identity {

    /** A first run prepares Keycloak and makes its schema. */
    private static final Duration PATIENCE = Duration.ofMinutes(6);

    private Identity() {}

    /** Returns when Keycloak answers. */
    public static void await() {
        URI realm = URI.create(url() + "/realms/master");
        try (HttpClient client = HttpClient.newHttpClient()) {
            Awaitility.await()
                    .atMost(PATIENCE)
                    .pollInterval(Duration.ofMillis(200))
                    .ignoreExceptions()
                    .until(() ->
                            client.send(HttpRequest.newBuilder(realm).build(), HttpResponse.BodyHandlers.discarding())
                                            .statusCode()
                                    == 200);
        }
    }

    public static String url() {
        return ConfigProvider.getConfig().getValue(ServiceProperties.KEYCLOAK_URL, String.class);
    }
}
