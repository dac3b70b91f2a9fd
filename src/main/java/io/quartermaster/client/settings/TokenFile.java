package io.quartermaster.client.settings;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.client.output.CommandFailure;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/** The logins of a person, one for each server and tenant, in {@code tokens.json}. */
public final class TokenFile {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final PrivateFile file;

    public TokenFile(Path folder) {
        this.file = new PrivateFile(folder.resolve("tokens.json"));
    }

    public Optional<SavedLogin> find(URI server, String tenant) {
        return Optional.ofNullable(all().get(key(server, tenant)));
    }

    public void put(URI server, String tenant, SavedLogin login) {
        file.locked(() -> {
            change(logins -> logins.put(key(server, tenant), login));
            return null;
        });
    }

    /** Removes the login and returns it. */
    public Optional<SavedLogin> remove(URI server, String tenant) {
        return file.locked(() -> {
            Optional<SavedLogin> found = find(server, tenant);
            if (found.isPresent()) {
                change(logins -> logins.remove(key(server, tenant)));
            }
            return found;
        });
    }

    /**
     * Replaces a login by its successor, while no other process does so. The login may differ from the one that the
     * caller knew: another process may have renewed it meanwhile.
     *
     * @param successor the login to store, which is also returned
     */
    public Optional<SavedLogin> renew(URI server, String tenant, UnaryOperator<SavedLogin> successor) {
        return file.locked(() -> {
            Optional<SavedLogin> found = find(server, tenant);
            if (found.isEmpty()) {
                return found;
            }
            SavedLogin next = successor.apply(found.get());
            if (!next.equals(found.get())) {
                change(logins -> logins.put(key(server, tenant), next));
            }
            return Optional.of(next);
        });
    }

    private void change(Consumer<Map<String, SavedLogin>> change) {
        Map<String, SavedLogin> logins = new TreeMap<>(all());
        change.accept(logins);
        ObjectNode document = JSON.createObjectNode();
        logins.forEach((key, login) -> document.set(key, login.toJson()));
        file.write(document.toPrettyString() + "\n");
    }

    private Map<String, SavedLogin> all() {
        file.requirePrivate();
        return file.read().map(this::parse).orElse(Map.of());
    }

    private Map<String, SavedLogin> parse(String text) {
        try {
            Map<String, SavedLogin> logins = new TreeMap<>();
            for (Map.Entry<String, JsonNode> entry : JSON.readTree(text).properties()) {
                logins.put(entry.getKey(), SavedLogin.of(entry.getValue()));
            }
            return logins;
        } catch (JsonProcessingException | IllegalArgumentException e) {
            throw CommandFailure.usage(file.path() + " cannot be used. Remove it, and sign in again with qm login.");
        }
    }

    private static String key(URI server, String tenant) {
        return server + " " + tenant;
    }
}
