package io.quartermaster.embedded;

import io.quartermaster.launch.Component;
import io.quartermaster.launch.ServiceProperties;
import io.quartermaster.launch.StartFailure;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The embedded parts, started at the same time. {@link #start} returns when PostgreSQL and Redis answer; Keycloak takes
 * longer and becomes ready later ({@link #identity}). A part that ends by itself is restarted. {@link #close} ends all
 * parts, the agent first and Keycloak before its database.
 */
public final class EmbeddedServices implements AutoCloseable {

    private final EmbeddedConfig config;
    private final Secrets secrets;
    private final Map<Component, RestartingProcess> restartingProcesses = new EnumMap<>(Component.class);
    private final CompletableFuture<StartFailure> failure = new CompletableFuture<>();

    private final LogRotation logs;

    private boolean closed;

    private EmbeddedServices(EmbeddedConfig config) {
        this.config = config;
        this.secrets = Secrets.in(config.folder());
        this.logs = LogRotation.of(config.folder());
    }

    /** Creates the services without starting any: a shutdown hook can refer to them before {@link #startAll}. */
    public static EmbeddedServices of(EmbeddedConfig config) {
        // Two threads that initialise the log manager's class at the same time can deadlock.
        Logger.getLogger(EmbeddedServices.class.getName());
        return new EmbeddedServices(config);
    }

    public static EmbeddedServices start(EmbeddedConfig config) {
        EmbeddedServices services = of(config);
        services.startAll();
        return services;
    }

    /** Starts the parts. Returns when PostgreSQL and Redis answer; ends the started parts when one of them cannot. */
    public void startAll() {
        DataFolder folder = config.folder();
        boolean keycloak = config.components().contains(Component.KEYCLOAK);
        try {
            if (keycloak || config.components().contains(Component.POSTGRES)) {
                startRestarting(
                        Component.POSTGRES, () -> EmbeddedPostgres.start(folder, secrets, config.postgresPort()));
            }
            if (config.components().contains(Component.REDIS)) {
                startRestarting(Component.REDIS, () -> EmbeddedRedis.start(folder, secrets, config.redisPort()));
            }
            awaitReady(Component.POSTGRES);
            if (keycloak) {
                startRestarting(Component.KEYCLOAK, () -> EmbeddedKeycloak.start(config, secrets));
            }
            awaitReady(Component.REDIS);
        } catch (CompletionException e) {
            close();
            throw e.getCause() instanceof StartFailure failure ? failure : e;
        }
    }

    private void startRestarting(Component component, Supplier<? extends EmbeddedProgram> start) {
        add(
                component,
                new RestartingProcess(
                        component.title(),
                        "127.0.0.1:" + config.port(component),
                        start,
                        config.progress(),
                        failure,
                        true));
    }

    private synchronized void add(Component component, RestartingProcess restartingProcess) {
        if (closed) {
            throw new StartFailure("Stopped while starting.");
        }
        restartingProcesses.put(component, restartingProcess);
        restartingProcess.start();
    }

    private synchronized @Nullable RestartingProcess restartingProcess(Component component) {
        return restartingProcesses.get(component);
    }

    private void awaitReady(Component component) {
        RestartingProcess restartingProcess = restartingProcess(component);
        if (restartingProcess != null) {
            restartingProcess.ready().join();
        }
    }

    /**
     * Starts an agent of this machine beside the other parts; it ends together with them. Returns when it has started.
     * The service does not depend on it, so it is restarted without limit.
     */
    public void startAgent(EmbeddedAgent.Settings settings) {
        RestartingProcess restartingProcess = new RestartingProcess(
                Component.AGENT.title(),
                settings.node(),
                () -> EmbeddedAgent.start(config.folder(), settings),
                config.progress(),
                failure,
                false);
        add(Component.AGENT, restartingProcess);
        restartingProcess.ready().join();
    }

    /** Ends the parts that a killed service left running in that folder, Keycloak before its database. */
    public static void endLeftovers(DataFolder folder) {
        EmbeddedAgent.endLeftover(folder);
        EmbeddedKeycloak.endLeftover(folder);
        EmbeddedRedis.endLeftover(folder);
        EmbeddedPostgres.endLeftover(folder);
    }

    /** The running parts of that folder, by pid, even without a service: a killed service leaves its parts running. */
    public static Map<Component, Long> running(DataFolder folder) {
        Map<Component, Long> running = new EnumMap<>(Component.class);
        for (Component component : Component.values()) {
            ManagedProcess.runningPid(folder.pidFile(component.program()))
                    .ifPresent(pid -> running.put(component, pid));
        }
        return running;
    }

    /** The command prefix that keeps the terminal's Ctrl-C from the command. */
    public static List<String> ownSession() {
        return ProcessSessions.prefix();
    }

    /** The configuration that points the service at the embedded parts. */
    public Map<String, String> properties() {
        Map<String, String> properties = new LinkedHashMap<>();
        DatabaseRoles roles = new DatabaseRoles(secrets);
        if (config.components().contains(Component.POSTGRES)) {
            ServiceProperties.database(
                    "postgresql://127.0.0.1:" + config.postgresPort() + "/" + DatabaseRoles.DATABASE,
                    Optional.of(roles.account(DatabaseRoles.OWNER)),
                    roles.account(DatabaseRoles.REQUEST),
                    roles.account(DatabaseRoles.SYSTEM),
                    properties::put);
        }
        if (config.components().contains(Component.REDIS)) {
            ServiceProperties.redis(EmbeddedRedis.url(secrets, config.redisPort()), properties::put);
        }
        if (config.components().contains(Component.KEYCLOAK)) {
            ServiceProperties.identity(
                    EmbeddedKeycloak.url(config.keycloakPort()),
                    new ServiceProperties.Account(
                            EmbeddedKeycloak.ADMIN, secrets.password(EmbeddedKeycloak.ADMIN_SECRET)),
                    properties::put);
        }
        return properties;
    }

    /**
     * Completes when Keycloak answers, or immediately when it is not embedded; fails with the reason when it cannot
     * start.
     */
    public CompletableFuture<Void> identity() {
        RestartingProcess restartingProcess = restartingProcess(Component.KEYCLOAK);
        return restartingProcess == null ? CompletableFuture.completedFuture(null) : restartingProcess.ready();
    }

    /** Completes when a part that the service needs has ended and its restarts failed; the service should stop then. */
    public CompletableFuture<StartFailure> failure() {
        return failure;
    }

    @Override
    public void close() {
        synchronized (this) {
            closed = true;
        }
        for (Component component :
                new Component[] {Component.AGENT, Component.KEYCLOAK, Component.REDIS, Component.POSTGRES}) {
            RestartingProcess restartingProcess = restartingProcess(component);
            if (restartingProcess != null) {
                restartingProcess.close();
            }
        }
        logs.close();
    }
}
