package io.quartermaster.cli;

import io.quartermaster.cli.demo.ApiClient;
import io.quartermaster.cli.demo.ApiClient.ApiFailure;
import io.quartermaster.cli.demo.DemoPasswords;
import io.quartermaster.cli.demo.DemoWorld;
import io.quartermaster.cli.load.LoadClient;
import io.quartermaster.cli.load.LoadReport;
import io.quartermaster.cli.load.LoadRun;
import io.quartermaster.cli.load.LoadWorld;
import io.quartermaster.cli.load.ProcessorClock;
import io.quartermaster.cli.load.RetentionRun;
import io.quartermaster.embedded.DataFolder;
import io.quartermaster.embedded.EmbeddedServices;
import io.quartermaster.embedded.Secrets;
import io.quartermaster.launch.Component;
import io.quartermaster.launch.ExitCodes;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code qm load}: measures submissions on a service of its own. It starts that service on a separate folder and
 * separate ports, and stops it at the end.
 */
@Command(
        name = "load",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Measures submissions on a service of its own.",
            "The figures are their rate, and the time until they hold their devices, compared with the ceiling in the"
                    + " same run: an authenticated insert of one row."
        },
        subcommands = LoadAgentsCommand.class,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:the run printed its figures", "1:the run failed; the message says why"})
final class LoadCommand implements Callable<Integer> {

    private static final String SYSTEM_ROLE = "qm_system";

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--clients",
            split = ",",
            defaultValue = "1,8,64",
            description = "Numbers of concurrent clients, one round each. Default: ${DEFAULT-VALUE}")
    private List<Integer> clients;

    @Option(
            names = "--seconds",
            defaultValue = "10",
            description = "Duration of the measurement of each type of request, in seconds. Default: ${DEFAULT-VALUE}")
    private int seconds;

    @Option(
            names = "--warm-up",
            defaultValue = "5",
            description = "Duration of the warm-up before each measurement, in seconds. Default: ${DEFAULT-VALUE}")
    private int warmUpSeconds;

    @Option(names = "--redis-stopped", description = "Also measure submissions while Redis is stopped (SIGSTOP)")
    private boolean redisStopped;

    @Option(
            names = "--retention-minutes",
            paramLabel = "MINUTES",
            description = {
                "Instead of the other rounds: submit batches at a steady rate for MINUTES, with every "
                        + "retention set to one minute, and measure the rows that stay longer"
            })
    private int retentionMinutes;

    @Option(
            names = "--retention-rate",
            paramLabel = "N",
            defaultValue = "2000",
            description = "Submissions per second for --retention-minutes. Default: ${DEFAULT-VALUE}")
    private int retentionRate;

    @Option(names = "--output", paramLabel = "FILE", description = "Also write the figures to FILE as Markdown")
    private @Nullable Path output;

    /** Set by picocli before {@link #call}. */
    @SuppressWarnings("NullAway.Init")
    LoadCommand() {}

    @Override
    public Integer call() throws Exception {
        PrintWriter out = spec.commandLine().getOut();
        try (MeasuredService service = MeasuredService.start(options())) {
            RunFile run = service.awaitReady();
            out.printf("Measuring %s%n", run.url());
            String report = retentionMinutes > 0
                    ? measureRetention(out, run, service.folder())
                    : LoadReport.markdown(measure(out, run, service.folder()), conditions());
            out.println();
            out.println(report);
            out.flush();
            if (output != null) {
                Files.writeString(output, report);
            }
            service.delete();
            return ExitCodes.OK;
        } catch (ApiFailure e) {
            spec.commandLine().getErr().println("qm: " + e.getMessage());
            return 1;
        }
    }

    private List<LoadRun.Round> measure(PrintWriter out, RunFile run, DataFolder folder) {
        DemoPasswords passwords = DemoPasswords.of(folder);
        LoadWorld.Queues queues = new LoadWorld(
                        run.url(),
                        run.keycloakUrl(),
                        Secrets.in(folder).password(DemoWorld.CLI_SECRET),
                        passwords.admin())
                .prepare();
        return new LoadRun(
                        out,
                        new LoadClient(run.url()),
                        queues,
                        member(run, DemoWorld.RND_MEMBER, passwords),
                        member(run, DemoWorld.DEVOPS_MEMBER, passwords),
                        Duration.ofSeconds(warmUpSeconds),
                        Duration.ofSeconds(seconds),
                        redisStopped
                                ? Optional.ofNullable(
                                        EmbeddedServices.running(folder).get(Component.REDIS))
                                : Optional.empty(),
                        new ProcessorClock(
                                run.process().find().orElseThrow(),
                                Optional.ofNullable(
                                                EmbeddedServices.running(folder).get(Component.POSTGRES))
                                        .flatMap(ProcessHandle::of)
                                        .orElseThrow()))
                .run(clients);
    }

    private String measureRetention(PrintWriter out, RunFile run, DataFolder folder) {
        DemoPasswords passwords = DemoPasswords.of(folder);
        LoadWorld.Queues queues = new LoadWorld(
                        run.url(),
                        run.keycloakUrl(),
                        Secrets.in(folder).password(DemoWorld.CLI_SECRET),
                        passwords.admin())
                .prepare();
        Duration time = Duration.ofMinutes(retentionMinutes);
        RetentionRun.Result result = new RetentionRun(
                        out,
                        new LoadClient(run.url()),
                        queues.waits(),
                        member(run, DemoWorld.DEVOPS_MEMBER, passwords),
                        new RetentionRun.Database(
                                run.postgres(), SYSTEM_ROLE, Secrets.in(folder).password("postgres." + SYSTEM_ROLE)),
                        retentionRate,
                        time)
                .run();
        return RetentionRun.markdown(result, retentionRate, time, conditions());
    }

    private static ApiClient member(RunFile run, String user, DemoPasswords passwords) {
        return ApiClient.ofUser(run.url(), run.keycloakUrl(), LoadWorld.TENANT, user, passwords.member());
    }

    private List<String> options() {
        List<String> options = new ArrayList<>(List.of(
                "-Xmx512m",
                "-Dquartermaster.load.ceiling=true",
                "-Dquartermaster.dispatch.simulate-counted-pools=true",
                "-Dquartermaster.workloads.submissions-per-second=1000000",
                "-Dquartermaster.workloads.submission-burst=1000000",
                "-Dquartermaster.http.tenant-requests-per-second=1000000",
                "-Dquartermaster.http.tenant-burst=1000000"));
        if (retentionMinutes > 0) {
            for (String kept : List.of("workloads.feed-kept", "workloads.environment-kept", "idempotency.kept")) {
                options.add("-Dquartermaster." + kept + "=" + RetentionRun.RETENTION.toSeconds() + "s");
            }
        }
        return options;
    }

    /** The conditions of a measurement on this machine, one line each. */
    static List<String> conditions() {
        Runtime runtime = Runtime.getRuntime();
        return List.of(
                "service, PostgreSQL (fsync on), Redis, Keycloak and the clients on one machine with "
                        + runtime.availableProcessors() + " processors, "
                        + System.getProperty("os.name") + " " + System.getProperty("os.arch"),
                "Java " + Runtime.version() + ", service with 512 MB of heap",
                "load average after the run: "
                        + ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
    }
}
