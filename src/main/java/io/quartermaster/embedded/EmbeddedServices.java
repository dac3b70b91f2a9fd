package io.quartermaster.embedded;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * What is embedded, started side by side: {@link #start} returns when PostgreSQL and Redis answer; Keycloak, which takes longer, comes up
 * behind ({@link #identity}). {@link #close} ends everything, Keycloak before its database.
 */
public final class EmbeddedServices implements AutoCloseable {

    private final EmbeddedConfig config;
    private final Secrets secrets;
    private final @Nullable EmbeddedPostgres postgres;
    private final @Nullable EmbeddedRedis redis;
    private final CompletableFuture<Optional<EmbeddedKeycloak>> keycloak;
    private volatile boolean closing;

    private EmbeddedServices(
            EmbeddedConfig config,
            Secrets secrets,
            @Nullable EmbeddedPostgres postgres,
            @Nullable EmbeddedRedis redis,
            CompletableFuture<Optional<EmbeddedKeycloak>> keycloak) {
        this.config = config;
        this.secrets = secrets;
        this.postgres = postgres;
        this.redis = redis;
        this.keycloak = keycloak;
    }

    public static EmbeddedServices start(EmbeddedConfig config) {
        // Two threads that meet the log manager's class initialisation at once can wait for each other for ever.
        Logger.getLogger(EmbeddedServices.class.getName());
        Secrets secrets = Secrets.in(config.folder());
        boolean wantsKeycloak = config.parts().contains(Part.KEYCLOAK);
        CompletableFuture<Optional<EmbeddedPostgres>> postgres = inBackground(
                config,
                Part.POSTGRES,
                wantsKeycloak,
                () -> EmbeddedPostgres.start(config.folder(), secrets, config.postgresPort()));
        CompletableFuture<Optional<EmbeddedRedis>> redis = inBackground(
                config, Part.REDIS, false, () -> EmbeddedRedis.start(config.folder(), secrets, config.redisPort()));
        try {
            EmbeddedPostgres database = postgres.join().orElse(null);
            CompletableFuture<Optional<EmbeddedKeycloak>> keycloak =
                    inBackground(config, Part.KEYCLOAK, false, () -> EmbeddedKeycloak.start(config, secrets));
            return new EmbeddedServices(config, secrets, database, redis.join().orElse(null), keycloak);
        } catch (CompletionException e) {
            closeWhenStarted(postgres);
            closeWhenStarted(redis);
            throw e.getCause() instanceof StartFailure failure ? failure : e;
        }
    }

    /** Ends what a killed service left running in that folder, Keycloak before its database. */
    public static void endLeftovers(DataFolder folder) {
        EmbeddedKeycloak.endLeftover(folder);
        EmbeddedRedis.endLeftover(folder);
        EmbeddedPostgres.endLeftover(folder);
    }

    /** Configuration that points the service at what runs here. */
    public Map<String, String> properties() {
        Map<String, String> properties = new LinkedHashMap<>();
        DatabaseRoles roles = new DatabaseRoles(secrets);
        if (config.parts().contains(Part.POSTGRES)) {
            String address = "postgresql://127.0.0.1:" + config.postgresPort() + "/" + DatabaseRoles.DATABASE;
            ServiceProperties.database(
                    address,
                    new ServiceProperties.Account(DatabaseRoles.OWNER, roles.password(DatabaseRoles.OWNER)),
                    new ServiceProperties.Account(DatabaseRoles.REQUEST, roles.password(DatabaseRoles.REQUEST)),
                    new ServiceProperties.Account(DatabaseRoles.SYSTEM, roles.password(DatabaseRoles.SYSTEM)),
                    properties::put);
        }
        if (redis != null) {
            ServiceProperties.redis(redis.url(), properties::put);
        }
        if (config.parts().contains(Part.KEYCLOAK)) {
            ServiceProperties.identity(
                    EmbeddedKeycloak.url(config.keycloakPort()),
                    new ServiceProperties.Account(
                            EmbeddedKeycloak.ADMIN, secrets.password(EmbeddedKeycloak.ADMIN_SECRET)),
                    properties::put);
        }
        return properties;
    }

    /** Completes when Keycloak answers, at once when it is not embedded; fails with what went wrong. */
    public CompletableFuture<Void> identity() {
        return keycloak.thenApply(started -> null);
    }

    /** Tells of a child that ended without being asked to, once each. */
    public void onLoss(BiConsumer<Part, Long> listener) {
        if (postgres != null) {
            watch(Part.POSTGRES, postgres.child(), listener);
        }
        if (redis != null) {
            watch(Part.REDIS, redis.child(), listener);
        }
        keycloak.thenAccept(started -> started.ifPresent(k -> watch(Part.KEYCLOAK, k.child(), listener)));
    }

    @Override
    public void close() {
        closing = true;
        closeWhenStarted(keycloak);
        if (redis != null) {
            redis.close();
        }
        if (postgres != null) {
            postgres.close();
        }
    }

    private void watch(Part part, Child child, BiConsumer<Part, Long> listener) {
        child.onExit().thenRun(() -> {
            if (!closing) {
                listener.accept(part, child.pid());
            }
        });
    }

    private static <T> CompletableFuture<Optional<T>> inBackground(
            EmbeddedConfig config, Part part, boolean needed, Supplier<T> start) {
        if (!needed && !config.parts().contains(part)) {
            return CompletableFuture.completedFuture(Optional.empty());
        }
        CompletableFuture<Optional<T>> result = new CompletableFuture<>();
        Thread.ofPlatform().name("start-" + part.title()).daemon().start(() -> {
            try {
                Progress.Step step = config.progress().begin(part.title());
                T started = start.get();
                step.done("127.0.0.1:" + config.port(part));
                result.complete(Optional.of(started));
            } catch (RuntimeException | Error e) {
                result.completeExceptionally(e);
            }
        });
        return result;
    }

    /** Waits for a start under way, since what it starts must be ended too. */
    private static <T extends AutoCloseable> void closeWhenStarted(CompletableFuture<Optional<T>> starting) {
        try {
            Optional<T> started = starting.join();
            if (started.isPresent()) {
                started.get().close();
            }
        } catch (CompletionException failedToStart) {
            // Then there is nothing to end.
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
