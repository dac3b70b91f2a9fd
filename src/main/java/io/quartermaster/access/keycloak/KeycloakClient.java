package io.quartermaster.access.keycloak;

import com.fasterxml.jackson.databind.JavaType;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.keycloak.representations.idm.RealmRepresentation;

/**
 * Keycloak's administration, within one call of {@link KeycloakAdmin}: each request blocks until Keycloak answers or the call's time is
 * over. Requests fail with {@link KeycloakFailure}.
 */
public final class KeycloakClient {

    private final KeycloakHttp http;
    private final Deadline deadline;

    KeycloakClient(KeycloakHttp http, Deadline deadline) {
        this.http = http;
        this.deadline = deadline;
    }

    /** Makes a realm with all that the representation holds, and gets the rights in it. */
    public void createRealm(RealmRepresentation realm) {
        post("/admin/realms", realm);
        renewRights();
    }

    /** Gets the rights in realms that were made since the administrator's token was. */
    public void renewRights() {
        http.renewRights(deadline);
    }

    /** A realm, whether it is there or not. */
    public KeycloakRealm realm(String name) {
        return new KeycloakRealm(this, "/admin/realms/" + encoded(name));
    }

    /** What is at a path; empty when there is nothing. */
    <T> Optional<T> find(String path, Class<T> type) {
        try {
            return Optional.of(get(path, type));
        } catch (KeycloakFailure e) {
            if (e.isNotFound()) {
                return Optional.empty();
            }
            throw e;
        }
    }

    <T> T get(String path, Class<T> type) {
        return get(path, KeycloakHttp.JSON.constructType(type));
    }

    <T> List<T> list(String path, Class<T> type) {
        return get(path, KeycloakHttp.JSON.getTypeFactory().constructCollectionType(List.class, type));
    }

    private <T> T get(String path, JavaType type) {
        return KeycloakHttp.read(http.send("GET", path, null, deadline).body(), type);
    }

    /** Returns the id of what was made, where Keycloak tells it. */
    String post(String path, Object body) {
        return http.send("POST", path, body, deadline)
                .location()
                .map(location -> location.substring(location.lastIndexOf('/') + 1))
                .orElse("");
    }

    <T> T post(String path, @Nullable Object body, Class<T> answer) {
        return KeycloakHttp.read(
                http.send("POST", path, body, deadline).body(), KeycloakHttp.JSON.constructType(answer));
    }

    void put(String path, @Nullable Object body) {
        http.send("PUT", path, body, deadline);
    }

    /** Succeeds when there is nothing at the path. */
    void delete(String path) {
        try {
            http.send("DELETE", path, null, deadline);
        } catch (KeycloakFailure e) {
            if (!e.isNotFound()) {
                throw e;
            }
        }
    }

    /** Removes some of what is listed at the path. */
    void delete(String path, Object body) {
        http.send("DELETE", path, body, deadline);
    }

    /** One segment of a path, or a value of a query. */
    static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
