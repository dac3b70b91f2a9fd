package io.quartermaster.testing;

import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.common.QuarkusTestResourceLifecycleManager;
import io.quartermaster.embedded.EmbeddedServices;
import io.quartermaster.launch.Component;
import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Collectors;

/**
 * Real PostgreSQL, Redis and Keycloak for every {@code @QuarkusTest} of this module, on random ports and empty data,
 * with the settings of production. They start once per test JVM and end with it. Keycloak is ready later than the
 * service, so a test that needs it calls {@link Identity#await} first.
 *
 * <p>{@code -Dqm.test.identity=false} leaves Keycloak out, for quick runs of tests that need no token.
 * {@link PreparedData} says how Keycloak starts sooner.
 */
@QuarkusTestResource(EmbeddedServicesResource.class)
public final class EmbeddedServicesResource implements QuarkusTestResourceLifecycleManager {

    /** Tests with another profile load this class again; they share only the properties of the JVM. */
    private static final String SHARED = "quartermaster.testing.shared.";

    /** The JVM's property with the password of PostgreSQL's superuser, for tests that need a database of their own. */
    static final String SUPERUSER_PASSWORD = "quartermaster.testing.superuser-password";

    @Override
    public Map<String, String> start() {
        Properties common = System.getProperties();
        synchronized (common) {
            if (shared(common).isEmpty()) {
                startServices().forEach((key, value) -> common.setProperty(SHARED + key, value));
            }
            return shared(common);
        }
    }

    private static Map<String, String> shared(Properties common) {
        return common.stringPropertyNames().stream()
                .filter(name -> name.startsWith(SHARED))
                .collect(Collectors.toMap(name -> name.substring(SHARED.length()), common::getProperty));
    }

    /** Does nothing: the services also serve the next test class, and the hook below ends them. */
    @Override
    public void stop() {}

    private static Map<String, String> startServices() {
        TestFolder folder = TestFolder.claim(Path.of("target"));
        EnumSet<Component> components = EnumSet.copyOf(Component.EXCHANGEABLE);
        if (!Boolean.parseBoolean(System.getProperty("qm.test.identity", "true"))) {
            components.remove(Component.KEYCLOAK);
        }
        if (components.contains(Component.KEYCLOAK)) {
            PreparedData.copyTo(folder.data());
        }
        EmbeddedServices services = EmbeddedServices.start(PreparedData.config(folder.data(), components));
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            services.close();
            folder.release();
        }));
        System.setProperty(SUPERUSER_PASSWORD, superuserPassword(folder.data()));
        return services.properties();
    }

    private static String superuserPassword(Path data) {
        Properties secrets = new Properties();
        try (Reader reader = Files.newBufferedReader(data.resolve("secrets.properties"))) {
            secrets.load(reader);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return secrets.getProperty("postgres.superuser");
    }
}
