package io.quartermaster.access.keycloak;

import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URLDecoder;
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

    private static final String REALMS = "/admin/realms/";

    private final KeycloakHttp http;
    private final CallDeadline callDeadline;

    KeycloakClient(KeycloakHttp http, CallDeadline callDeadline) {
        this.http = http;
        this.callDeadline = callDeadline;
    }

    /** Makes a realm with all that the representation holds, and gets the rights in it. */
    public void createRealm(RealmRepresentation realm) {
        post("/admin/realms", realm);
        renewRights();
    }

    /** Gets the rights in realms that were made since the administrator's token was. */
    public void renewRights() {
        http.renewRights(callDeadline);
    }

    /** A realm, whether it is there or not. */
    public KeycloakRealm realm(String name) {
        return new KeycloakRealm(this, REALMS + encoded(name));
    }

    /** What is at a path; empty when there is nothing. */
    <T> Optional<T> find(String path, Class<T> type) {
        try {
            return Optional.of(KeycloakHttp.read(
                    http.send("GET", path, null, callDeadline).body(), KeycloakHttp.JSON.constructType(type)));
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
        return KeycloakHttp.read(send("GET", path, null).body(), type);
    }

    /** Tells a thing that is not in a realm from a realm that is not there, which Keycloak answers with the same status. */
    private KeycloakHttp.Answer send(String method, String path, @Nullable Object body) {
        try {
            return http.send(method, path, body, callDeadline);
        } catch (KeycloakFailure e) {
            if (e.isNotFound() && path.startsWith(REALMS)) {
                String realm = path.substring(REALMS.length()).split("[/?]", 2)[0];
                if (find(REALMS + realm, ObjectNode.class).isEmpty()) {
                    throw KeycloakFailure.noRealm(URLDecoder.decode(realm, StandardCharsets.UTF_8));
                }
            }
            throw e;
        }
    }

    /** Returns the id of what was made, where Keycloak tells it. */
    String post(String path, Object body) {
        return send("POST", path, body)
                .location()
                .map(location -> location.substring(location.lastIndexOf('/') + 1))
                .orElse("");
    }

    <T> T post(String path, @Nullable Object body, Class<T> answer) {
        return KeycloakHttp.read(send("POST", path, body).body(), KeycloakHttp.JSON.constructType(answer));
    }

    void put(String path, @Nullable Object body) {
        send("PUT", path, body);
    }

    /** Succeeds when there is nothing at the path. */
    void delete(String path) {
        try {
            http.send("DELETE", path, null, callDeadline);
        } catch (KeycloakFailure e) {
            if (!e.isNotFound()) {
                throw e;
            }
        }
    }

    /** Removes some of what is listed at the path. */
    void delete(String path, Object body) {
        send("DELETE", path, body);
    }

    /**
     * One segment of a path, or a value of a query. The unreserved characters of RFC 3986, section 2.3, stay as they are: Keycloak refuses a path in
     * which one of them is encoded, since its normal form is another.
     */
    static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8)
                .replace("+", "%20")
                .replace("%7E", "~");
    }
}
