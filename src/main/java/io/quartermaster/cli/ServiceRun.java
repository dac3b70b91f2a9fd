package io.quartermaster.cli;

import io.quarkus.runtime.Application;
import io.quartermaster.cli.demo.DemoPasswords;
import io.quartermaster.embedded.DataFolder;
import io.quartermaster.embedded.EmbeddedConfig;
import io.quartermaster.embedded.EmbeddedServices;
import io.quartermaster.embedded.Ports;
import io.quartermaster.embedded.ProcessMark;
import io.quartermaster.embedded.ProgressListener;
import io.quartermaster.embedded.Secrets;
import io.quartermaster.launch.Component;
import io.quartermaster.launch.ExitCodes;
import io.quartermaster.launch.ExternalServices;
import io.quartermaster.launch.ListenOptions;
import io.quartermaster.launch.ServiceProperties;
import io.quartermaster.launch.ServiceRunner;
import io.quartermaster.launch.StartFailure;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

/** One run of the service in this process, from the checks before its start to the end of the last child. */
final class ServiceRun {

    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(30);
    private static final Duration SERVICE_START_TIMEOUT = Duration.ofMinutes(3);
    /** A developer may take long until the sources compile. */
    private static final Duration DEVELOPMENT_START_TIMEOUT = Duration.ofDays(1);

    private final PrintWriter out;
    private final ExternalServices externalServices;
    private final Settings settings;
    private final ProgressListener progressListener;
    private final long startedNanos = System.nanoTime();
    private final ServiceRunner serviceRunner;
    private final CompletableFuture<Integer> exitCode = new CompletableFuture<>();

    /** The values of the options. */
    record Settings(
            Path dataFolder,
            ListenOptions listen,
            int postgresPort,
            int redisPort,
            int keycloakPort,
            boolean demo,
            DemoPasswords.Kind demoPasswords,
            boolean unsafeDemo) {}

    ServiceRun(PrintWriter out, ExternalServices externalServices, Settings settings) {
        this.out = out;
        this.externalServices = externalServices;
        this.settings = settings;
        this.progressListener = new ConsoleProgress(out);
        this.serviceRunner = new ServiceRunner(progressListener::warn);
    }

    /**
     * Runs the service with its embedded servers; returns when it was asked to end.
     *
     * @param externalService whether another process runs the service; this one then writes the settings for it
     */
    int run(boolean externalService) {
        out.printf("Quartermaster starts; data in %s%n", settings.dataFolder());
        out.flush();
        if (isDemo() && !isLoopback(settings.listen().httpHost())) {
            throw new StartFailure("The demonstration is for this machine only: its users may run programs here. Leave"
                    + " --http-host (QM_HTTP_HOST) at 127.0.0.1, not "
                    + settings.listen().httpHost()
                    + ", or start an empty installation with --no-demo.");
        }
        DataFolder folder = DataFolder.open(settings.dataFolder());
        Optional<InstanceLock> lock = InstanceLock.tryAcquire(folder);
        if (lock.isEmpty()) {
            out.println(RunFile.ofRunning(folder)
                    .map(UpCommand::alreadyRunning)
                    .orElse("qm: another command uses the data folder " + folder.path() + "; try again."));
            out.flush();
            return ExitCodes.ALREADY_RUNNING;
        }
        if (!externalService) {
            Ports.requireFree(settings.listen().httpPort(), "the API", "--http-port or QM_HTTP_PORT");
            Ports.requireFree(
                    settings.listen().managementPort(),
                    "health and metrics",
                    "--management-port or QM_MANAGEMENT_PORT");
        }
        EmbeddedServices services = EmbeddedServices.of(embeddedConfig(folder));
        // From here on the hook ends the children in every case, even in the middle of their start.
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(folder, services), "stop"));
        Set<String> before = Set.copyOf(System.getProperties().stringPropertyNames());
        services.startAll();
        services.properties().forEach(System::setProperty);
        externalServices.properties().forEach(System::setProperty);
        settings.listen().apply();
        if (!externalService) {
            setLogProperties(folder);
        }
        String operatorSecret = Secrets.in(folder).password("operator.quartermaster-cli");
        Optional<DemoPasswords> passwords =
                isDemo() ? Optional.of(DemoPasswords.of(folder, settings.demoPasswords())) : Optional.empty();
        setIdentityProperties(operatorSecret, passwords);
        RunFile runFile = newRunFile();
        writeRunFile(folder, runFile);
        if (externalService) {
            writeSettings(folder, before);
        }
        services.failure().thenAccept(failure -> {
            progressListener.warn(failure.toString());
            end(ExitCodes.COMPONENT_LOST);
        });
        Thread.ofPlatform().daemon().name("startup").start(() -> new Startup(
                        out,
                        progressListener,
                        folder,
                        services,
                        runFile,
                        passwords.map(made -> new Startup.Demo(operatorSecret, made, settings.unsafeDemo())),
                        externalService ? DEVELOPMENT_START_TIMEOUT : SERVICE_START_TIMEOUT,
                        this::end)
                .run(startedNanos));
        return externalService ? awaitSignal() : serviceRunner.run();
    }

    /** Writes the properties that this run has set, which are the settings of the service. */
    private static void writeSettings(DataFolder folder, Set<String> before) {
        SortedMap<String, String> serviceSettings = new TreeMap<>();
        for (String name : System.getProperties().stringPropertyNames()) {
            if (!before.contains(name) && (name.startsWith("quarkus.") || name.startsWith("quartermaster."))) {
                serviceSettings.put(name, System.getProperty(name));
            }
        }
        try {
            new ServiceSettingsFile(folder).write(serviceSettings);
        } catch (IOException e) {
            throw new StartFailure("Cannot write into the data folder " + folder.path() + ": " + e.getMessage(), e);
        }
    }

    private void end(int code) {
        exitCode.complete(code);
        serviceRunner.end(code);
    }

    /** Waits for the signal that ends this process, or for the loss of a server. */
    private int awaitSignal() {
        return exitCode.join();
    }

    private EmbeddedConfig embeddedConfig(DataFolder folder) {
        return new EmbeddedConfig(
                folder,
                Installation.keycloakHome(),
                externalServices.embedded(),
                settings.postgresPort(),
                settings.redisPort(),
                settings.keycloakPort(),
                progressListener);
    }

    private void stop(DataFolder folder, EmbeddedServices services) {
        ProgressListener.Step step = progressListener.begin("Stopping");
        try {
            // The JVM runs its hooks at the same time; the service's own hook must end before its database stops.
            long end = System.nanoTime() + STOP_TIMEOUT.toNanos();
            while (Application.currentApplication() != null && System.nanoTime() < end) {
                // Quarkus's own wait for this event has no time limit.
                Thread.sleep(20);
            }
            services.close();
            RunFile.remove(folder);
            new ServiceSettingsFile(folder).remove();
            step.done("all programs have ended");
        } catch (IOException e) {
            progressListener.warn("Cannot remove the run file: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static boolean isLoopback(String host) {
        try {
            return InetAddress.getByName(host).isLoopbackAddress();
        } catch (UnknownHostException e) {
            return false;
        }
    }

    private boolean isDemo() {
        return settings.demo() && externalServices.embedded().contains(Component.KEYCLOAK);
    }

    private void setIdentityProperties(String operatorSecret, Optional<DemoPasswords> passwords) {
        System.setProperty("quartermaster.tenancy.cli-secret", operatorSecret);
        System.setProperty(
                "quartermaster.tenancy.portal-url",
                "http://127.0.0.1:" + settings.listen().httpPort());
        passwords.ifPresent(made -> {
            System.setProperty("quartermaster.tenancy.demo", "true");
            made.properties().forEach(System::setProperty);
        });
    }

    /** The console shows steps, not a log; the complete log is in the file. */
    private static void setLogProperties(DataFolder folder) {
        for (Map.Entry<String, String> entry : Map.of(
                        "quarkus.log.file.enabled", "true",
                        "quarkus.log.file.path", folder.log("service").toString(),
                        "quarkus.log.file.rotation.max-file-size", "16M",
                        "quarkus.log.file.rotation.max-backup-index", "3",
                        // After a failure, operators read what the log contains from before the start.
                        "quarkus.log.file.rotation.rotate-on-boot", "false",
                        "quarkus.log.console.level", "ERROR")
                .entrySet()) {
            if (System.getProperty(entry.getKey()) == null) {
                System.setProperty(entry.getKey(), entry.getValue());
            }
        }
    }

    private RunFile newRunFile() {
        return new RunFile(
                ProcessMark.of(ProcessHandle.current()),
                "http://127.0.0.1:" + settings.listen().httpPort(),
                "http://127.0.0.1:" + settings.listen().managementPort(),
                System.getProperty(ServiceProperties.KEYCLOAK_URL, ""),
                externalServices.addresses().getOrDefault(Component.POSTGRES, "127.0.0.1:" + settings.postgresPort()),
                externalServices.addresses().getOrDefault(Component.REDIS, "127.0.0.1:" + settings.redisPort()),
                false);
    }

    private static void writeRunFile(DataFolder folder, RunFile runFile) {
        try {
            runFile.write(folder);
        } catch (IOException e) {
            throw new StartFailure("Cannot write into the data folder " + folder.path() + ": " + e.getMessage(), e);
        }
    }
}
