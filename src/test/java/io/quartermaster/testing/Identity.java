package io.quartermaster.testing;

import static io.restassured.RestAssured.given;

import io.quartermaster.launch.ServiceProperties;
import io.restassured.http.ContentType;
import io.restassured.specification.RequestSpecification;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import org.awaitility.Awaitility;
import org.eclipse.microprofile.config.ConfigProvider;

/** The Keycloak of the tests. */
public final class Identity {

    /** The first run prepares Keycloak and creates its schema. */
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

    /** A request to Keycloak's administration, with all rights. */
    public static RequestSpecification admin() {
        String token = given().baseUri(url())
                .port(-1)
                .formParams(Map.of(
                        "grant_type",
                        "password",
                        "client_id",
                        "admin-cli",
                        "username",
                        setting("admin-username"),
                        "password",
                        setting("admin-password")))
                .post("/realms/master/protocol/openid-connect/token")
                .then()
                .statusCode(200)
                .extract()
                .path("access_token");
        return given().baseUri(url()).port(-1).auth().oauth2(token).contentType(ContentType.JSON);
    }

    private static String setting(String name) {
        return ConfigProvider.getConfig().getValue("quartermaster.identity." + name, String.class);
    }

    public static String url() {
        return ConfigProvider.getConfig().getValue(ServiceProperties.KEYCLOAK_URL, String.class);
    }
}
