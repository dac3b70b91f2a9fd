package io.quartermaster.cli;

import io.quarkus.runtime.Application;
import io.quarkus.runtime.Quarkus;
import io.quartermaster.cli.demo.DemoPasswords;
import io.quartermaster.embedded.Component;
import io.quartermaster.embedded.DataFolder;
import io.quartermaster.embedded.EmbeddedConfig;
import io.quartermaster.embedded.EmbeddedServices;
import io.quartermaster.embedded.Ports;
import io.quartermaster.embedded.ProcessMark;
import io.quartermaster.embedded.ProgressListener;
import io.quartermaster.embedded.Secrets;
import io.quartermaster.embedded.StartFailure;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/** One run of the service in this process, from the checks before it to the end of the last child. */
final class ServiceRun {

    private static final Duration STOP_PATIENCE = Duration.ofSeconds(30);

    private final PrintWriter out;
    private final ExternalServices externalServices;
    private final Settings settings;
    private final ProgressListener progressListener;
    private final long begun = System.nanoTime();
    private final AtomicInteger exitCode = new AtomicInteger(ExitCodes.OK);

    /**
     * What the options say.
     *
     * @param trustedProxies addresses or networks with commas between them; blank for none
     */
    record Settings(
            Path dataFolder,
            String httpHost,
            int httpPort,
            String managementHost,
            int managementPort,
            String trustedProxies,
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
    }

    /** Everything is given from outside: the service alone, logging to the console as its surroundings expect. */
    int runBare() {
        externalServices.properties().forEach(System::setProperty);
        listenProperties();
        return runService();
    }

    /** Returns when the service was told to end. */
    int run() {
        out.printf("Quartermaster starts; data in %s%n", settings.dataFolder());
        out.flush();
        if (isDemo() && !isLoopback(settings.httpHost())) {
            throw new StartFailure("The demonstration is for this machine only: its users may run programs here. Leave"
                    + " --http-host (QM_HTTP_HOST) at 127.0.0.1, not " + settings.httpHost()
                    + ", or start an empty installation with --no-demo.");
        }
        DataFolder folder = DataFolder.open(settings.dataFolder());
        Optional<InstanceLock> lock = InstanceLock.tryTake(folder);
        if (lock.isEmpty()) {
            out.println(RunFile.ofRunning(folder)
                    .map(UpCommand::alreadyRunning)
                    .orElse("qm: another command works on the data folder " + folder.path() + "; try again."));
            out.flush();
            return ExitCodes.ALREADY_RUNNING;
        }
        Ports.requireFree(settings.httpPort(), "the API", "--http-port or QM_HTTP_PORT");
        Ports.requireFree(settings.managementPort(), "health and metrics", "--management-port or QM_MANAGEMENT_PORT");
        EmbeddedServices services = EmbeddedServices.of(embeddedConfig(folder));
        // From here on the hook ends the children, whatever happens, also in the middle of their start.
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(folder, services), "stop"));
        services.begin();
        services.properties().forEach(System::setProperty);
        externalServices.properties().forEach(System::setProperty);
        listenProperties();
        logProperties(folder);
        String operatorSecret = Secrets.in(folder).password("operator.quartermaster-cli");
        Optional<DemoPasswords> passwords =
                isDemo() ? Optional.of(DemoPasswords.of(folder, settings.demoPasswords())) : Optional.empty();
        identityProperties(operatorSecret, passwords);
        RunFile runFile = runFile();
        writeRunFile(folder, runFile);
        services.broken().thenAccept(failure -> {
            progressListener.warn(failure.toString());
            exitCode.set(ExitCodes.LOST_A_PART);
            Quarkus.asyncExit(ExitCodes.LOST_A_PART);
        });
        Thread.ofPlatform().daemon().name("startup").start(() -> new Startup(
                        out,
                        progressListener,
                        folder,
                        services,
                        runFile,
                        passwords.map(made -> new Startup.Demo(operatorSecret, made, settings.unsafeDemo())))
                .follow(begun));
        return runService();
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

    private int runService() {
        // platform.RequestAddresses makes the same check, and says what is wrong.
        System.setProperty("vertx.disableURIValidation", "true");
        Quarkus.run(null, (code, failure) -> {
            if (failure != null) {
                progressListener.warn("The service ended: " + StartFailureText.rootMessage(failure));
                exitCode.compareAndSet(ExitCodes.OK, ExitCodes.CANNOT_START);
            } else if (code != 0) {
                exitCode.compareAndSet(ExitCodes.OK, code);
            }
        });
        return exitCode.get();
    }

    private void stop(DataFolder folder, EmbeddedServices services) {
        ProgressListener.Step step = progressListener.begin("Stopping");
        try {
            // The JVM runs its hooks side by side; the service's own must be through before its database goes.
            long end = System.nanoTime() + STOP_PATIENCE.toNanos();
            while (Application.currentApplication() != null && System.nanoTime() < end) {
                Thread.sleep(20);
            }
            services.close();
            RunFile.remove(folder);
            step.done("nothing is left running");
        } catch (IOException e) {
            progressListener.warn("Cannot remove the run file: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void listenProperties() {
        System.setProperty("quarkus.http.host", settings.httpHost());
        System.setProperty("quarkus.http.port", Integer.toString(settings.httpPort()));
        if (!settings.trustedProxies().isBlank()) {
            System.setProperty("quarkus.http.proxy.proxy-address-forwarding", "true");
            System.setProperty("quarkus.http.proxy.allow-x-forwarded", "true");
            System.setProperty("quarkus.http.proxy.trusted-proxies", settings.trustedProxies());
        }
        System.setProperty("quarkus.management.host", settings.managementHost());
        System.setProperty("quarkus.management.port", Integer.toString(settings.managementPort()));
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

    private void identityProperties(String operatorSecret, Optional<DemoPasswords> passwords) {
        System.setProperty("quartermaster.tenancy.cli-secret", operatorSecret);
        System.setProperty("quartermaster.tenancy.portal-url", "http://127.0.0.1:" + settings.httpPort());
        passwords.ifPresent(made -> {
            System.setProperty("quartermaster.tenancy.demo", "true");
            made.properties().forEach(System::setProperty);
        });
    }

    /** People at a console want steps, not a log; all of the log is in the file. */
    private static void logProperties(DataFolder folder) {
        for (Map.Entry<String, String> entry : Map.of(
                        "quarkus.log.file.enabled", "true",
                        "quarkus.log.file.path", folder.log("service").toString(),
                        "quarkus.log.file.rotation.max-file-size", "16M",
                        "quarkus.log.file.rotation.max-backup-index", "3",
                        // What went before a start is what people look for after it.
                        "quarkus.log.file.rotation.rotate-on-boot", "false",
                        "quarkus.log.console.level", "ERROR")
                .entrySet()) {
            if (System.getProperty(entry.getKey()) == null) {
                System.setProperty(entry.getKey(), entry.getValue());
            }
        }
    }

    private RunFile runFile() {
        return new RunFile(
                ProcessMark.of(ProcessHandle.current()),
                "http://127.0.0.1:" + settings.httpPort(),
                "http://127.0.0.1:" + settings.managementPort(),
                System.getProperty(io.quartermaster.embedded.ServiceProperties.KEYCLOAK_URL, ""),
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
