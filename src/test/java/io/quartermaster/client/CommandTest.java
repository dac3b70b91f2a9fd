package io.quartermaster.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A person who is signed in to tenant {@code acme} of a service with prepared answers. */
abstract class CommandTest {

    static final String TENANT = "/v1/tenants/acme";
    static final String EMPTY = "{\"items\":[]}";

    static final String ID = "019ab1c2-d3e4-7000-8000-000000000001";
    static final String WORKLOADS = TENANT + "/workloads";
    static final String WORKLOAD = "{\"id\":\"" + ID
            + "\",\"name\":\"train\",\"queue\":\"q\",\"submittedBy\":\"jo\",\"state\":\"waiting\",\"gpus\":\"1\","
            + "\"submittedAt\":\"2026-12-01T08:00:00Z\"}";

    private static final ObjectMapper JSON = new ObjectMapper();

    FakeApi api;
    ClientRun client;
    Path home;

    @BeforeEach
    final void signIn(@TempDir Path folder) throws IOException {
        home = folder;
        api = new FakeApi();
        client = new ClientRun(folder)
                .with("QM_SERVER", api.url())
                .with("QM_TENANT", "acme")
                .with("QM_TOKEN", "a-token");
    }

    @AfterEach
    final void stop() {
        api.close();
    }

    /** A token without a signature, of a realm and a person. */
    static String token(String tenant, String username) {
        String claims = "{\"iss\":\"https://id.example.org/realms/" + tenant + "\",\"preferred_username\":\"" + username
                + "\"}";
        return "e30."
                + Base64.getUrlEncoder().withoutPadding().encodeToString(claims.getBytes(StandardCharsets.UTF_8))
                + ".e30";
    }

    /** A file with a text; returns its path. */
    String file(String name, String text) throws IOException {
        Path file = home.resolve(name);
        Files.createDirectories(file.getParent());
        return Files.writeString(file, text).toString();
    }

    static JsonNode json(String text) {
        try {
            return JSON.readTree(text);
        } catch (IOException e) {
            throw new IllegalArgumentException(text, e);
        }
    }

    /** Prepares the list of a kind, as one page. */
    void givenList(String path, String... items) {
        api.given("GET " + path + "?pageSize=500", 200, "{\"items\":[" + String.join(",", items) + "]}", Map.of());
    }

    /** The requests that change something, without dry runs, as method and path. */
    List<String> writes() {
        return api.requests().stream()
                .filter(request ->
                        !request.method().equals("GET") && !request.path().contains("dryRun=true"))
                .map(request -> request.method() + " " + request.path())
                .toList();
    }

    /** The one request of a method to a path, query included. */
    FakeApi.Request request(String method, String path) {
        List<FakeApi.Request> found = api.requests().stream()
                .filter(request ->
                        request.method().equals(method) && request.path().equals(path))
                .toList();
        if (found.size() != 1) {
            throw new AssertionError(found.size() + " requests " + method + " " + path + " in " + api.requests());
        }
        return found.getFirst();
    }
}
