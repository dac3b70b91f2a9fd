package io.quartermaster.cli;

import io.quartermaster.cli.demo.DemoPasswords;
import io.quartermaster.launch.Component;
import io.quartermaster.launch.ExitCodes;
import io.quartermaster.launch.ExternalServices;
import io.quartermaster.launch.ListenOptions;
import io.quartermaster.launch.OrderlyExit;
import io.quartermaster.launch.ServiceRunner;
import io.quartermaster.launch.StartFailure;
import java.io.PrintWriter;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code qm up}: starts the service and the servers that it needs. */
@Command(
        name = "up",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Starts the service, with its own PostgreSQL, Redis, Keycloak and agent; in the background with --detach.",
            "QM_DATABASE_URL, QM_REDIS_URL and QM_KEYCLOAK_URL name external servers instead, each with its"
                    + " users and passwords. Ctrl-C stops everything."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:stopped by qm down, Ctrl-C or a signal",
            "2:an option is wrong",
            "4:cannot start; the message gives the reason and the remedy",
            "5:already running on this data folder",
            "6:a part ended, and its restarts failed"
        })
final class UpCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Mixin
    private DataFolderOption dataFolder;

    @Mixin
    private ListenOptions listen;

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
                "With the embedded Keycloak: two tenants with users, a pool, and an agent with simulated GPUs "
                        + "(default)."
                        + " Needs a --http-host of this machine only",
                "--no-demo: an empty installation"
            })
    private boolean demo;

    @Option(
            names = "--demo-passwords",
            defaultValue = "random",
            paramLabel = "random|fixed",
            description = {
                "Passwords of the demonstration's users in a new data folder: generated (default), or "
                        + "those of"
                        + " tenants/demo.yaml, which are public"
            })
    private DemoPasswords.Kind demoPasswords;

    @Option(
            names = "--unsafe-demo",
            description = "Run the demonstration's work with all rights of the user who starts the service, "
                    + "including access to the data folder")
    private boolean unsafeDemo;

    @Option(
            names = "--only",
            paramLabel = "servers|service",
            description = {
                "servers: everything except the service, which another process runs on this data folder",
                "service: the service alone, with the servers of such a process. qm dev uses both"
            })
    private @Nullable Only only;

    @Option(names = "--detach", description = "Run in the background; return when the service is ready")
    private boolean detach;

    /** The part that this process starts. */
    enum Only {
        SERVERS,
        SERVICE
    }

    /** Set by picocli before {@link #call}. */
    @SuppressWarnings("NullAway.Init")
    UpCommand() {}

    @Override
    public Integer call() throws Exception {
        PrintWriter out = spec.commandLine().getOut();
        ExternalServices externalServices = ExternalServices.from(System.getenv());
        Set<Component> embedded = externalServices.embedded();
        if (only != null && (detach || only == Only.SERVERS && embedded.isEmpty())) {
            throw new StartFailure("--only does not go with --detach, and --only servers needs a server to embed:"
                    + " leave out QM_DATABASE_URL, QM_REDIS_URL or QM_KEYCLOAK_URL.");
        }
        OrderlyExit.onSignals();
        if (only == Only.SERVICE) {
            new ServiceSettingsFile(dataFolder.folder()).apply();
            return new ServiceRunner(new ConsoleProgress(out)::warn).run();
        }
        if (embedded.isEmpty()) {
            return detach
                    ? refuseDetach()
                    : new ServiceRunner(new ConsoleProgress(out)::warn).run(externalServices, listen);
        }
        Optional<RunFile> running = RunFile.ofRunning(dataFolder.folder());
        if (running.isPresent()) {
            spec.commandLine().getErr().println(alreadyRunning(running.get()));
            return ExitCodes.ALREADY_RUNNING;
        }
        return detach
                ? new DetachedStart(out, dataFolder.folder())
                        .start(spec.commandLine().getParseResult().originalArgs())
                : new ServiceRun(out, externalServices, settings()).run(only == Only.SERVERS);
    }

    private Integer refuseDetach() {
        throw new StartFailure("With only external servers there is no data folder in which --detach could record"
                + " the process. Use the system's own service manager.");
    }

    static String alreadyRunning(RunFile run) {
        return "qm: Quartermaster already runs on this data folder: " + run.url() + " (process "
                + run.process().pid() + "). Stop it with " + Installation.command()
                + " down, or choose another folder with --data-dir.";
    }

    private ServiceRun.Settings settings() {
        return new ServiceRun.Settings(
                dataFolder.path(), listen, postgresPort, redisPort, keycloakPort, demo, demoPasswords, unsafeDemo);
    }
}
