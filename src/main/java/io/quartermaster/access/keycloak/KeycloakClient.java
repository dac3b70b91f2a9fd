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
 * Keycloak's administration, within one call of {@link KeycloakAdmin}: each request blocks until Keycloak answers or
 * the call's time limit expires. Requests fail with {@link KeycloakFailure}.
 */
public final class KeycloakClient {

    private static final String REALMS = "/admin/realms/";

    private final KeycloakHttp http;
    private final CallDeadline callDeadline;

    KeycloakClient(KeycloakHttp http, CallDeadline callDeadline) {
        this.http = http;
        this.callDeadline = callDeadline;
    }

    /** Creates a realm with everything in the representation, and gets the rights in it. */
    public void createRealm(RealmRepresentation realm) {
        post("/admin/realms", realm);
        renewToken();
    }

    /** Gets the rights in realms that are newer than the administrator's token. */
    public void renewToken() {
        http.renewToken(callDeadline);
    }

    /** A realm, which need not exist. */
    public KeycloakRealm realm(String name) {
        return new KeycloakRealm(this, REALMS + encode(name));
    }

    /** The resource at a path; empty when there is none. */
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

    /**
     * Sends a request, and reports a missing realm as such: Keycloak answers it with the same status as a missing
     * resource of a realm.
     */
    private KeycloakHttp.Answer send(String method, String path, @Nullable Object body) {
        try {
            return http.send(method, path, body, callDeadline);
        } catch (KeycloakFailure e) {
            if (e.isNotFound() && path.startsWith(REALMS)) {
                String realm = path.substring(REALMS.length()).split("[/?]", 2)[0];
                if (find(REALMS + realm, ObjectNode.class).isEmpty()) {
                    throw KeycloakFailure.ofMissingRealm(URLDecoder.decode(realm, StandardCharsets.UTF_8));
                }
            }
            throw e;
        }
    }

    /** Returns the id of the new resource, if Keycloak sends it. */
    String post(String path, Object body) {
        return send("POST", path, body)
                .location()
                .map(location -> location.substring(location.lastIndexOf('/') + 1))
                .orElse("");
    }

    <T> T post(String path, @Nullable Object body, Class<T> answer) {
        return KeycloakHttp.read(send("POST", path, body).body(), KeycloakHttp.JSON.constructType(answer));
    }

    /** @param body sent as JSON; a string is sent as text */
    void put(String path, @Nullable Object body) {
        send("PUT", path, body);
    }

    /** Deletes the resource at the path; also succeeds when there is none. */
    void delete(String path) {
        try {
            http.send("DELETE", path, null, callDeadline);
        } catch (KeycloakFailure e) {
            if (!e.isNotFound()) {
                throw e;
            }
        }
    }

    /** Removes the given items from the list at the path. */
    void delete(String path, Object body) {
        send("DELETE", path, body);
    }

    /**
     * Encodes a segment of a path, or a value of a query. The unreserved characters of RFC 3986, section 2.3, stay
     * unencoded: Keycloak refuses a path that encodes one of them, since it is not in normal form.
     */
    static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8)
                .replace("+", "%20")
                .replace("%7E", "~");
    }
}
