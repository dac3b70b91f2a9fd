package io.quartermaster.cli;

import io.quartermaster.embedded.Component;
import io.quartermaster.embedded.DataFolder;
import io.quartermaster.embedded.EmbeddedServices;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code qm status}: what runs on a data folder. */
@Command(
        name = "status",
        mixinStandardHelpOptions = true,
        description = "Says what runs, where, and how it is.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:the service runs and is ready", "3:it does not run, or is not ready"})
final class StatusCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Mixin
    private DataFolderOption dataFolder;

    /** Set by picocli before {@link #call}. */
    @SuppressWarnings("NullAway.Init")
    StatusCommand() {}

    @Override
    public Integer call() throws Exception {
        PrintWriter out = spec.commandLine().getOut();
        DataFolder folder = dataFolder.folder();
        Optional<RunFile> run = RunFile.ofRunning(folder);
        if (run.isEmpty()) {
            printLeftovers(out, EmbeddedServices.running(folder));
            printData(out, folder);
            return ExitCodes.NOT_RUNNING;
        }
        boolean ready = printRun(out, run.get());
        printData(out, folder);
        return ready ? ExitCodes.OK : ExitCodes.NOT_RUNNING;
    }

    /** The parts of a service that was killed go on without it. */
    private static void printLeftovers(PrintWriter out, Map<Component, Long> left) {
        if (left.isEmpty()) {
            out.println("Quartermaster does not run. Start it with qm up.");
            return;
        }
        out.println("The service does not run; these parts of it still do. qm up takes them over, qm down ends them.");
        left.forEach((component, pid) -> line(out, component.title(), "process " + pid));
    }

    private static boolean printRun(PrintWriter out, RunFile run) throws InterruptedException {
        long upSeconds = run.process().startMillis() < 0
                ? 0
                : Duration.between(Instant.ofEpochMilli(run.process().startMillis()), Instant.now())
                        .toSeconds();
        line(
                out,
                "Service",
                "%s   process %d, up %s".formatted(run.url(), run.process().pid(), Duration.ofSeconds(upSeconds)));
        line(out, "Management", run.managementUrl());
        line(out, "PostgreSQL", run.postgres());
        line(out, "Redis", run.redis());
        line(out, "Keycloak", run.keycloakUrl());
        try (HealthProbe healthProbe = new HealthProbe()) {
            Optional<HealthProbe.Health> health = healthProbe.ready(run.managementUrl());
            if (health.isEmpty()) {
                line(out, "Health", "does not answer");
                return false;
            }
            line(out, "Health", health.get().up() ? "ready" : "not ready");
            health.get().checks().forEach((name, said) -> out.printf("               %s: %s%n", name, said));
            return health.get().up();
        }
    }

    private static void printData(PrintWriter out, DataFolder folder) {
        String size = Files.isDirectory(folder.path())
                ? String.format(Locale.ROOT, "%s   %.1f MiB", folder.path(), folder.sizeBytes() / 1048576.0)
                : folder.path() + "   not there yet";
        line(out, "Data", size);
    }

    private static void line(PrintWriter out, String what, String text) {
        out.printf("%-14s %s%n", what, text);
        out.flush();
    }
}
