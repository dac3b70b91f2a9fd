package io.quartermaster.cli;

import io.quartermaster.cli.demo.DemoPasswords;
import io.quartermaster.embedded.Component;
import io.quartermaster.embedded.StartFailure;
import java.io.PrintWriter;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code qm up}: starts the service and what it needs. */
@Command(
        name = "up",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Starts the service, with its own PostgreSQL, Redis, Keycloak and agent.",
            "What is given from outside is not started: QM_DATABASE_URL, QM_REDIS_URL, QM_KEYCLOAK_URL, each with its"
                    + " users and passwords. Ctrl-C stops everything."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:stopped because it was told to",
            "2:an option is wrong",
            "4:cannot start; the message says why and what to do",
            "5:already running on this data folder",
            "6:a part ended and could not be started again"
        })
final class UpCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Mixin
    private DataFolderOption dataFolder;

    @Option(
            names = "--http-port",
            defaultValue = "${env:QM_HTTP_PORT:-8080}",
            description = "Port of the API. Default: QM_HTTP_PORT, else 8080")
    private int httpPort;

    @Option(
            names = "--http-host",
            defaultValue = "${env:QM_HTTP_HOST:-127.0.0.1}",
            description = "Address the API listens on. Default: QM_HTTP_HOST, else 127.0.0.1, this machine only")
    private String httpHost;

    @Option(
            names = "--management-port",
            defaultValue = "${env:QM_MANAGEMENT_PORT:-8081}",
            description = "Port of health and metrics. Default: QM_MANAGEMENT_PORT, else 8081")
    private int managementPort;

    @Option(
            names = "--management-host",
            defaultValue = "${env:QM_MANAGEMENT_HOST:-127.0.0.1}",
            description = {
                "Address health and metrics listen on. They ask for no token.",
                "Default: QM_MANAGEMENT_HOST, else 127.0.0.1, this machine only"
            })
    private String managementHost;

    @Option(
            names = "--trusted-proxies",
            defaultValue = "${env:QM_TRUSTED_PROXIES:-}",
            description = {
                "Proxies in front of the API, as addresses or networks with commas between them. From them the API takes"
                        + " X-Forwarded-For, which they must replace, not extend.",
                "Default: QM_TRUSTED_PROXIES, else none"
            })
    private String trustedProxies;

    @Option(
            names = "--postgres-port",
            defaultValue = "${env:QM_POSTGRES_PORT:-5439}",
            description = "Port of the embedded PostgreSQL. Default: QM_POSTGRES_PORT, else 5439")
    private int postgresPort;

    @Option(
            names = "--redis-port",
            defaultValue = "${env:QM_REDIS_PORT:-6390}",
            description = "Port of the embedded Redis. Default: QM_REDIS_PORT, else 6390")
    private int redisPort;

    @Option(
            names = "--keycloak-port",
            defaultValue = "${env:QM_KEYCLOAK_PORT:-8180}",
            description = "Port of the embedded Keycloak. Default: QM_KEYCLOAK_PORT, else 8180")
    private int keycloakPort;

    @Option(
            names = "--demo",
            negatable = true,
            defaultValue = "true",
            fallbackValue = "true",
            description = {
                "With the embedded Keycloak: two tenants with users, a pool, and an agent with simulated GPUs (default)."
                        + " Needs a --http-host of this machine only",
                "--no-demo: an empty installation"
            })
    private boolean demo;

    @Option(
            names = "--demo-passwords",
            defaultValue = "random",
            paramLabel = "random|fixed",
            description = {
                "Passwords of the demonstration's users, where the data folder is new: made for it (default), or those of"
                        + " tenants/demo.yaml, which everybody can read"
            })
    private DemoPasswords.Kind demoPasswords;

    @Option(
            names = "--unsafe-demo",
            description =
                    "Run the demonstration's work with all rights of the user who starts this, also over the data folder")
    private boolean unsafeDemo;

    @Option(names = "--detach", description = "Run in the background; return when the service is ready")
    private boolean detach;

    /** Set by picocli before {@link #call}. */
    @SuppressWarnings("NullAway.Init")
    UpCommand() {}

    @Override
    public Integer call() throws Exception {
        PrintWriter out = spec.commandLine().getOut();
        ExternalServices externalServices = ExternalServices.from(System.getenv());
        Set<Component> embedded = externalServices.embedded();
        if (embedded.isEmpty()) {
            return detach ? refuseDetach() : new ServiceRun(out, externalServices, settings()).runBare();
        }
        Optional<RunFile> running = RunFile.ofRunning(dataFolder.folder());
        if (running.isPresent()) {
            spec.commandLine().getErr().println(alreadyRunning(running.get()));
            return ExitCodes.ALREADY_RUNNING;
        }
        return detach
                ? new DetachedStart(out, dataFolder.folder())
                        .start(spec.commandLine().getParseResult().originalArgs())
                : new ServiceRun(out, externalServices, settings()).run();
    }

    private Integer refuseDetach() {
        throw new StartFailure(
                "With everything given from outside nothing is kept in a data folder, and --detach has no place to say"
                        + " what runs. Use the system's own service manager.");
    }

    static String alreadyRunning(RunFile run) {
        return "qm: Quartermaster already runs on this data folder: " + run.url() + " (process "
                + run.process().pid() + "). Stop it with qm down, or choose another folder with --data-dir.";
    }

    private ServiceRun.Settings settings() {
        return new ServiceRun.Settings(
                dataFolder.path(),
                httpHost,
                httpPort,
                managementHost,
                managementPort,
                trustedProxies,
                postgresPort,
                redisPort,
                keycloakPort,
                demo,
                demoPasswords,
                unsafeDemo);
    }
}
