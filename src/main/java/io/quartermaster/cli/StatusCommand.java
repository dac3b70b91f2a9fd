package io.quartermaster.cli;

import io.quartermaster.embedded.DataFolder;
import io.quartermaster.embedded.EmbeddedServices;
import io.quartermaster.launch.Component;
import io.quartermaster.launch.ExitCodes;
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

/** {@code qm status}: shows what runs on a data folder. */
@Command(
        name = "status",
        mixinStandardHelpOptions = true,
        description = {
            "Shows the addresses and the health of the service on the data folder.",
            "It also shows the agent of this machine, the GPUs of each pool by state, and the nodes that are out of"
                    + " contact."
        },
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
        printFleet(out, folder, run.get());
        printData(out, folder);
        return ready ? ExitCodes.OK : ExitCodes.NOT_RUNNING;
    }

    /** After the service was killed, its parts continue to run without it. */
    private static void printLeftovers(PrintWriter out, Map<Component, Long> leftovers) {
        if (leftovers.isEmpty()) {
            out.println("Quartermaster does not run. Start it with " + Installation.command() + " up.");
            return;
        }
        out.println("The service does not run, but these parts of it do. " + Installation.command()
                + " up adopts them, " + Installation.command() + " down ends them.");
        leftovers.forEach((component, pid) -> printLine(out, component.title(), "process " + pid));
    }

    private static boolean printRun(PrintWriter out, RunFile run) throws InterruptedException {
        long upSeconds = run.process().startMillis() < 0
                ? 0
                : Duration.between(Instant.ofEpochMilli(run.process().startMillis()), Instant.now())
                        .toSeconds();
        printLine(
                out,
                "Service",
                "%s   process %d, up %s".formatted(run.url(), run.process().pid(), Duration.ofSeconds(upSeconds)));
        printLine(out, "Management", run.managementUrl());
        printLine(out, "PostgreSQL", run.postgres());
        printLine(out, "Redis", run.redis());
        printLine(out, "Keycloak", run.keycloakUrl());
        try (HealthProbe healthProbe = new HealthProbe()) {
            Optional<HealthProbe.Health> health = healthProbe.readiness(run.managementUrl());
            if (health.isEmpty()) {
                printLine(out, "Health", "does not answer");
                return false;
            }
            printLine(out, "Health", health.get().up() ? "ready" : "not ready");
            health.get()
                    .checks()
                    .forEach((name, checkState) -> out.printf("               %s: %s%n", name, checkState));
            return health.get().up();
        }
    }

    private static void printFleet(PrintWriter out, DataFolder folder, RunFile run) throws InterruptedException {
        Long agent = EmbeddedServices.running(folder).get(Component.AGENT);
        printLine(out, "Agent", agent == null ? "none runs on this data folder" : "process " + agent);
        try (HealthProbe healthProbe = new HealthProbe()) {
            healthProbe.metrics(run.managementUrl()).map(FleetMetrics::parse).ifPresent(fleet -> {
                fleet.gpusByPool().forEach((pool, states) -> printLine(out, "GPUs", pool + ": " + states));
                printLine(out, "Nodes", fleet.lostNodes() + " out of contact");
            });
        }
    }

    private static void printData(PrintWriter out, DataFolder folder) {
        String size = Files.isDirectory(folder.path())
                ? String.format(Locale.ROOT, "%s   %.1f MiB", folder.path(), folder.sizeBytes() / 1048576.0)
                : folder.path() + "   does not exist yet";
        printLine(out, "Data", size);
    }

    private static void printLine(PrintWriter out, String what, String text) {
        out.printf("%-14s %s%n", what, text);
        out.flush();
    }
}
