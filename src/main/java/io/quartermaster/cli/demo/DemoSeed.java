package io.quartermaster.cli.demo;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.cli.demo.ApiClient.ApiFailure;
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
 * The start data of the local demonstration: a pool of ten GPUs on one node; {@code acme}, which reserves them all,
 * with two groups; {@code globex}, which reserves nothing and may use two. It is loaded through the public API, with
 * the tokens of the operator and the tenant admins.
 *
 * <p>Loaded once per data folder; later changes by users stay. If loading is interrupted, the next start continues it.
 */
public final class DemoSeed {

    public static final String NODE = "local-1";
    public static final int GPUS = 10;
    public static final List<String> TENANTS = List.of("acme", "globex");

    private static final String POOL = "demo";
    static final String MARKER_FILE = "demo.properties";
    private static final String TRUST_KEY = "pool-trust";
    private static final int NOT_FOUND = 404;
    private static final Duration TIMEOUT = Duration.ofMinutes(3);

    private final String url;
    private final String keycloakUrl;
    private final ApiClient operator;
    private final DemoPasswords passwords;
    private final DataFolder folder;

    public DemoSeed(String url, String keycloakUrl, String operatorSecret, DemoPasswords passwords, DataFolder folder) {
        this.url = url;
        this.keycloakUrl = keycloakUrl;
        this.operator = ApiClient.ofClient(url, keycloakUrl, "operator", DemoWorld.CLI_CLIENT, operatorSecret);
        this.passwords = passwords;
        this.folder = folder;
    }

    /**
     * The values that the demonstration's agent and the printed example need.
     *
     * @param issuer the realm of the first tenant
     */
    public record LoadedDemo(String clientId, Path secretFile, String tokenUrl, String issuer) {}

    /** Loads the data; fails with the service's message when the service refuses something. */
    public LoadedDemo load() throws IOException {
        Path marker = folder.resolve(MARKER_FILE);
        Path secretFile = folder.resolve("agent").resolve("secret");
        Properties known = new Properties();
        if (Files.exists(marker)) {
            try (var reader = Files.newBufferedReader(marker)) {
                known.load(reader);
            }
            if (!known.containsKey(TRUST_KEY)) {
                declareTrust();
                known.setProperty(TRUST_KEY, "stated");
                store(known, marker);
            }
        } else {
            seed(known, secretFile);
            store(known, marker);
        }
        return new LoadedDemo(
                known.getProperty("client-id", ""),
                secretFile,
                known.getProperty("token-url", ""),
                known.getProperty("issuer", ""));
    }

    private static void store(Properties known, Path marker) throws IOException {
        try (Writer writer = Files.newBufferedWriter(marker)) {
            known.store(writer, "The demonstration's start data is loaded. Its agent's credential:");
        }
    }

    /**
     * An older version may have created the pool without this field: all tenants of the demonstration share its one
     * node.
     */
    private void declareTrust() {
        awaitOperatorRealm();
        String path = "/v1/operator/pools/" + POOL;
        JsonNode pool = operator.require(operator.get(path));
        operator.require(operator.patch(path, pool.path("version").asLong(), Map.of("tenantsTrustEachOther", true)));
    }

    private void seed(Properties known, Path secretFile) {
        awaitOperatorRealm();
        for (String tenant : TENANTS) {
            createIfAbsent(
                    operator,
                    "/v1/operator/tenants",
                    tenant,
                    Map.of("id", tenant, "displayName", title(tenant), "plan", "demo"));
        }
        create(operator, "/v1/operator/clusters", Map.of("name", "local", "kind", "agent", "region", "local"));
        create(operator, "/v1/operator/pools", Map.of("name", POOL, "tenantsTrustEachOther", true));
        create(operator, "/v1/operator/nodes", Map.of("name", NODE, "cluster", "local", "pool", POOL));
        for (String tenant : TENANTS) {
            String issuer = awaitActive(tenant);
            if (tenant.equals(TENANTS.getFirst())) {
                known.setProperty("issuer", issuer);
            }
            createAllotment(tenant);
            createRules(tenant);
        }
        known.setProperty(TRUST_KEY, "stated");
        JsonNode credential = create(operator, "/v1/operator/nodes/" + NODE + "/credential", Map.of());
        known.setProperty("client-id", credential.path("clientId").asText());
        known.setProperty("token-url", credential.path("tokenUrl").asText());
        writeSecret(secretFile, credential.path("clientSecret").asText());
    }

    private void createAllotment(String tenant) {
        String path = "/v1/operator/tenants/" + tenant + "/allotments/" + POOL;
        if (!exists(operator, path)) {
            operator.require(operator.put(
                    path,
                    tenant.equals(TENANTS.getFirst())
                            ? Map.of("reserved", "10")
                            : Map.of("reserved", "0", "limit", "2")));
        }
    }

    private void createRules(String tenant) {
        ApiClient admin = ApiClient.ofUser(url, keycloakUrl, tenant, "admin", passwords.admin());
        String base = "/v1/tenants/" + tenant;
        boolean reserves = tenant.equals(TENANTS.getFirst());
        // The service refuses a profile larger than the tenant's limit, because it could never run.
        List<String> profiles = reserves ? List.of("1gpu", "2gpu", "3gpu") : List.of("1gpu", "2gpu");
        for (int gpus = 1; gpus <= profiles.size(); gpus++) {
            createIfAbsent(
                    admin,
                    base + "/profiles",
                    DemoWorld.profile(gpus),
                    Map.of("name", DemoWorld.profile(gpus), "gpus", Integer.toString(gpus), "pools", List.of(POOL)));
        }
        for (String group : List.of("rnd", "devops")) {
            createIfAbsent(
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

    private static JsonNode create(ApiClient caller, String path, Map<String, ?> body) {
        return caller.require(caller.post(path, body));
    }

    private static void createIfAbsent(ApiClient caller, String list, String name, Map<String, ?> body) {
        if (!exists(caller, list + "/" + name)) {
            create(caller, list, body);
        }
    }

    private static boolean exists(ApiClient caller, String path) {
        ApiClient.Answer answer = caller.get(path);
        if (answer.status() != NOT_FOUND) {
            caller.require(answer);
        }
        return answer.isSuccess();
    }

    /**
     * The service creates the operator's realm in the background once Keycloak is up; until then it issues no token.
     */
    private void awaitOperatorRealm() {
        long end = System.nanoTime() + TIMEOUT.toNanos();
        while (true) {
            try {
                operator.validToken();
                return;
            } catch (ApiFailure notYet) {
                if (System.nanoTime() > end) {
                    throw notYet;
                }
                DemoStage.pause();
            }
        }
    }

    /** Returns the tenant's issuer when its realm and all its other parts exist. */
    private String awaitActive(String tenant) {
        long end = System.nanoTime() + TIMEOUT.toNanos();
        while (System.nanoTime() < end) {
            JsonNode known = operator.require(operator.get("/v1/operator/tenants/" + tenant));
            String state = known.path("state").asText();
            if (state.equals("active")) {
                return known.path("issuer").asText();
            }
            if (state.equals("failed")) {
                throw new ApiFailure("The tenant " + tenant + " could not be created; see the service's log.");
            }
            DemoStage.pause();
        }
        throw new ApiFailure("The tenant " + tenant + " was not created within " + TIMEOUT.toMinutes() + " minutes.");
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
