package io.quartermaster.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.embedded.DataFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/**
 * The start data of the local demonstration, loaded through the public API with the tokens of those who would do it: a pool of ten GPUs on
 * one node; {@code acme}, who reserves them all, with two groups; {@code globex}, who reserves nothing and may use two.
 *
 * <p>Loaded once per data folder; what people change afterwards stays as they left it. Broken off in the middle, it goes on where it was.
 */
final class DemoSeed {

    static final String NODE = "local-1";
    static final int GPUS = 10;
    static final List<String> TENANTS = List.of("acme", "globex");

    private static final String POOL = "demo";
    private static final String MARKER = "demo.properties";
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    private final Api api;
    private final String operatorIssuer;
    private final String operatorSecret;
    private final DataFolder folder;

    DemoSeed(Api api, String keycloakUrl, String operatorSecret, DataFolder folder) {
        this.api = api;
        this.operatorIssuer = keycloakUrl + "/realms/operator";
        this.operatorSecret = operatorSecret;
        this.folder = folder;
    }

    /**
     * What the demonstration's agent and the first look need.
     *
     * @param issuer the realm of the first tenant
     */
    record Loaded(String clientId, Path secretFile, String tokenUrl, String issuer) {}

    /** Fails with the service's own words when it refuses something. */
    Loaded load() throws IOException, InterruptedException {
        Path marker = folder.resolve(MARKER);
        Path secretFile = folder.resolve("agent").resolve("secret");
        Properties known = new Properties();
        if (Files.exists(marker)) {
            try (var reader = Files.newBufferedReader(marker)) {
                known.load(reader);
            }
        } else {
            seed(known, secretFile);
            try (Writer writer = Files.newBufferedWriter(marker)) {
                known.store(writer, "The demonstration's start data is loaded. Its agent's credential:");
            }
        }
        return new Loaded(
                known.getProperty("client-id", ""),
                secretFile,
                known.getProperty("token-url", ""),
                known.getProperty("issuer", ""));
    }

    private void seed(Properties known, Path secretFile) throws IOException, InterruptedException {
        String operator = operatorToken();
        for (String tenant : TENANTS) {
            if (!exists(operator, "/v1/operator/tenants/" + tenant)) {
                api.post(
                        operator,
                        "/v1/operator/tenants",
                        Map.of("id", tenant, "displayName", title(tenant), "plan", "demo"));
            }
        }
        api.post(operator, "/v1/operator/clusters", Map.of("name", "local", "kind", "agent", "region", "local"));
        api.post(operator, "/v1/operator/pools", Map.of("name", POOL));
        api.post(operator, "/v1/operator/nodes", Map.of("name", NODE, "cluster", "local", "pool", POOL));
        for (String tenant : TENANTS) {
            String issuer = awaitActive(tenant);
            if (tenant.equals(TENANTS.getFirst())) {
                known.setProperty("issuer", issuer);
            }
            allot(tenant);
            govern(tenant, issuer);
        }
        JsonNode credential = api.post(operatorToken(), "/v1/operator/nodes/" + NODE + "/credential", Map.of())
                .body();
        known.setProperty("client-id", credential.path("clientId").asText());
        known.setProperty("token-url", credential.path("tokenUrl").asText());
        writeSecret(secretFile, credential.path("clientSecret").asText());
    }

    private void allot(String tenant) throws IOException, InterruptedException {
        String operator = operatorToken();
        String path = "/v1/operator/tenants/" + tenant + "/allotments/" + POOL;
        if (!exists(operator, path)) {
            api.putNew(
                    operator,
                    path,
                    tenant.equals(TENANTS.getFirst())
                            ? Map.of("reserved", "10")
                            : Map.of("reserved", "0", "limit", "2"));
        }
    }

    private void govern(String tenant, String issuer) throws IOException, InterruptedException {
        String admin = api.token(
                issuer,
                Map.of(
                        "grant_type",
                        "password",
                        "client_id",
                        "portal",
                        "username",
                        "admin",
                        "password",
                        "demo-admin-password"));
        String base = "/v1/tenants/" + tenant;
        boolean reserves = tenant.equals(TENANTS.getFirst());
        // A profile larger than the tenant's limit could never run, and is refused.
        List<String> profiles = reserves ? List.of("1gpu", "2gpu", "3gpu") : List.of("1gpu", "2gpu");
        for (int gpus = 1; gpus <= profiles.size(); gpus++) {
            create(
                    admin,
                    base + "/profiles",
                    gpus + "gpu",
                    Map.of("name", gpus + "gpu", "gpus", Integer.toString(gpus), "pools", List.of(POOL)));
        }
        for (String group : List.of("rnd", "devops")) {
            create(
                    admin,
                    base + "/policies",
                    group,
                    Map.of(
                            "name",
                            group,
                            "group",
                            "/" + group,
                            "quotas",
                            List.of(
                                    reserves
                                            ? Map.of("pool", POOL, "reserved", "5", "limit", "9")
                                            : Map.of("pool", POOL, "limit", "2")),
                            "profiles",
                            profiles,
                            "grace",
                            "PT10S"));
        }
    }

    private void create(String token, String path, String name, Map<String, ?> body)
            throws IOException, InterruptedException {
        if (!exists(token, path + "/" + name)) {
            api.post(token, path, body);
        }
    }

    private boolean exists(String token, String path) throws IOException, InterruptedException {
        Api.Answer answer = api.get(token, path);
        if (!answer.isGood() && answer.status() != 404) {
            throw new Api.Refused("GET " + path, answer);
        }
        return answer.isGood();
    }

    /** The operator's realm is made in the background once Keycloak is there. */
    private String operatorToken() throws IOException, InterruptedException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            try {
                return api.token(
                        operatorIssuer,
                        Map.of(
                                "grant_type",
                                "client_credentials",
                                "client_id",
                                "quartermaster-cli",
                                "client_secret",
                                operatorSecret));
            } catch (IOException notYet) {
                if (System.nanoTime() > end) {
                    throw notYet;
                }
                Thread.sleep(250);
            }
        }
    }

    /** Returns the tenant's issuer when its realm and everything else of it is made. */
    private String awaitActive(String tenant) throws IOException, InterruptedException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (System.nanoTime() < end) {
            JsonNode known =
                    api.get(operatorToken(), "/v1/operator/tenants/" + tenant).body();
            String state = known.path("state").asText();
            if (state.equalsIgnoreCase("active")) {
                return known.path("issuer").asText();
            }
            if (state.equalsIgnoreCase("failed")) {
                throw new IOException("The tenant " + tenant + " could not be made; see the service's log.");
            }
            Thread.sleep(250);
        }
        throw new IOException("The tenant " + tenant + " was not made within " + PATIENCE.toMinutes() + " minutes.");
    }

    private static void writeSecret(Path file, String secret) {
        try {
            Files.createDirectories(file.getParent());
            Files.deleteIfExists(file);
            Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            Files.writeString(file, secret);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String title(String tenant) {
        return Character.toUpperCase(tenant.charAt(0)) + tenant.substring(1);
    }
}
