package io.quartermaster.cli;

import io.quartermaster.cli.demo.ApiClient;
import io.quartermaster.cli.demo.ApiClient.ApiFailure;
import io.quartermaster.cli.demo.DemoPasswords;
import io.quartermaster.cli.demo.DemoWorld;
import io.quartermaster.cli.load.AgentLoadReport;
import io.quartermaster.cli.load.AgentLoadRun;
import io.quartermaster.cli.load.LoadDatabase;
import io.quartermaster.cli.load.LoadWorld;
import io.quartermaster.cli.load.ProcessorTimes;
import io.quartermaster.embedded.DataFolder;
import io.quartermaster.embedded.EmbeddedServices;
import io.quartermaster.embedded.Secrets;
import io.quartermaster.launch.Component;
import io.quartermaster.launch.ExitCodes;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code qm load agents}: measures the processor time that the calls of many agents cost. */
@Command(
        name = "agents",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Measures the processor time that the calls of many agents cost, on a service of its own.",
            "One light client imitates the agents, each with its own credential: first without work, then while work"
                    + " starts and ends at a steady rate."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:the run printed its figures", "1:the run failed; the message says why"})
final class LoadAgentsCommand implements Callable<Integer> {

    private static final String SYSTEM_ROLE = "qm_system";

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--nodes",
            split = ",",
            defaultValue = "500,2000",
            description = "Numbers of nodes, in ascending order, one round each. Default: ${DEFAULT-VALUE}")
    private List<Integer> nodes;

    @Option(names = "--gpus", defaultValue = "8", description = "GPUs of each node. Default: ${DEFAULT-VALUE}")
    private int gpus;

    @Option(
            names = "--starts",
            defaultValue = "5",
            description = "Workloads of one GPU that are submitted per second. Default: ${DEFAULT-VALUE}")
    private int starts;

    @Option(
            names = "--work-seconds",
            defaultValue = "10",
            description = "Duration of each workload, in seconds. Default: ${DEFAULT-VALUE}")
    private int workSeconds;

    @Option(
            names = "--warm-up",
            defaultValue = "30",
            description = "Duration of the warm-up before each measurement, in seconds. Default: ${DEFAULT-VALUE}")
    private int warmUpSeconds;

    @Option(
            names = "--seconds",
            defaultValue = "60",
            description = "Duration of each measurement, in seconds. Default: ${DEFAULT-VALUE}")
    private int seconds;

    @Option(
            names = "--setting",
            paramLabel = "NAME=VALUE",
            description = "A setting of the measured service, such as quartermaster.agents.max-wait=5s; repeatable")
    private @Nullable List<String> settings;

    @Option(names = "--output", paramLabel = "FILE", description = "Also write the figures to FILE as Markdown")
    private @Nullable Path output;

    /** Set by picocli before {@link #call}. */
    @SuppressWarnings("NullAway.Init")
    LoadAgentsCommand() {}

    @Override
    public Integer call() throws Exception {
        PrintWriter out = spec.commandLine().getOut();
        try (MeasuredService service = MeasuredService.start(options())) {
            RunFile run = service.awaitReady();
            out.printf("Measuring %s%n", run.url());
            out.flush();
            String report = AgentLoadReport.markdown(measure(out, run, service.folder()), LoadCommand.conditions());
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

    private List<AgentLoadRun.Figures> measure(PrintWriter out, RunFile run, DataFolder folder)
            throws InterruptedException {
        DemoPasswords passwords = DemoPasswords.of(folder);
        String queue = new LoadWorld(
                        run.url(),
                        run.keycloakUrl(),
                        Secrets.in(folder).password(DemoWorld.CLI_SECRET),
                        passwords.admin())
                .prepareNodes();
        ApiClient member = ApiClient.ofUser(
                run.url(), run.keycloakUrl(), LoadWorld.TENANT, DemoWorld.RND_MEMBER, passwords.member());
        long postgres = Objects.requireNonNull(
                EmbeddedServices.running(folder).get(Component.POSTGRES), "the service runs PostgreSQL itself");
        return new AgentLoadRun(
                        out,
                        run.url(),
                        member,
                        queue,
                        new LoadDatabase(
                                run.postgres(), SYSTEM_ROLE, Secrets.in(folder).password("postgres." + SYSTEM_ROLE)),
                        new ProcessorTimes(run.process().pid(), postgres),
                        new AgentLoadRun.Load(
                                gpus,
                                starts,
                                Duration.ofSeconds(workSeconds),
                                Duration.ofSeconds(warmUpSeconds),
                                Duration.ofSeconds(seconds)))
                .run(nodes);
    }

    private List<String> options() {
        List<String> options = new ArrayList<>(List.of(
                "-Xmx512m",
                "-Dquartermaster.workloads.submissions-per-second=1000000",
                "-Dquartermaster.workloads.submission-burst=1000000",
                "-Dquartermaster.http.tenant-requests-per-second=1000000",
                "-Dquartermaster.http.tenant-burst=1000000",
                // All agents of the run call from one address.
                "-Dquartermaster.http.address-requests-per-second=1000000",
                "-Dquartermaster.http.address-burst=1000000"));
        if (settings != null) {
            settings.forEach(setting -> options.add("-D" + setting));
        }
        return options;
    }
}
