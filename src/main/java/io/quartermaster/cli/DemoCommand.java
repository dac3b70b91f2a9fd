package io.quartermaster.cli;

import io.quartermaster.cli.demo.ApiClient;
import io.quartermaster.cli.demo.ApiClient.ApiFailure;
import io.quartermaster.cli.demo.DemoPasswords;
import io.quartermaster.cli.demo.DemoStage;
import io.quartermaster.cli.demo.DemoStory;
import io.quartermaster.cli.demo.DemoWorld;
import io.quartermaster.embedded.DataFolder;
import io.quartermaster.embedded.Secrets;
import io.quartermaster.launch.ExitCodes;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code qm demo}: plays the worked example against the running service. */
@Command(
        name = "demo",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Plays the worked example against the running service.",
            "Through the public API, a reservation is enforced by graceful preemption, a second tenant borrows, and the"
                    + " usage is billed.",
            "First it cancels all waiting and running work of its three users: rnd-member and devops-member of acme,"
                    + " rnd-member of globex. It does not touch the work of other users."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:every scene took place", "1:a scene failed; the message names it", "3:no service runs here"})
final class DemoCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Mixin
    private DataFolderOption dataFolder;

    @Option(
            names = "--steps",
            defaultValue = "80",
            description = "Length of each job, in steps of half a second. Default: ${DEFAULT-VALUE}")
    private int steps;

    @Option(
            names = "--patience",
            defaultValue = "300",
            description = "Time limit of each scene, in seconds. Default: ${DEFAULT-VALUE}")
    private int patienceSeconds;

    /** Set by picocli before {@link #call}. */
    @SuppressWarnings("NullAway.Init")
    DemoCommand() {}

    @Override
    public Integer call() {
        atLeastOne("--steps", steps);
        atLeastOne("--patience", patienceSeconds);
        PrintWriter out = spec.commandLine().getOut();
        DataFolder folder = dataFolder.folder();
        Optional<RunFile> running = RunFile.ofRunning(folder);
        if (running.isEmpty()) {
            spec.commandLine()
                    .getErr()
                    .println("qm: Quartermaster does not run on " + folder.path() + ". Start it with "
                            + Installation.command() + " up.");
            return ExitCodes.NOT_RUNNING;
        }
        String url = running.get().url();
        String keycloak = running.get().keycloakUrl();
        String password = DemoPasswords.of(folder).member();
        try {
            new DemoStory(
                            out,
                            new DemoStage(out, Duration.ofSeconds(patienceSeconds)),
                            ApiClient.ofClient(
                                    url,
                                    keycloak,
                                    "operator",
                                    DemoWorld.CLI_CLIENT,
                                    Secrets.in(folder).password(DemoWorld.CLI_SECRET)),
                            member(url, keycloak, DemoWorld.OWNER, DemoWorld.RND_MEMBER, password),
                            member(url, keycloak, DemoWorld.OWNER, DemoWorld.DEVOPS_MEMBER, password),
                            member(url, keycloak, DemoWorld.BORROWER, DemoWorld.RND_MEMBER, password),
                            steps)
                    .run();
            return ExitCodes.OK;
        } catch (ApiFailure e) {
            spec.commandLine().getErr().println("qm: " + e.getMessage());
            return 1;
        }
    }

    private void atLeastOne(String option, int value) {
        if (value < 1) {
            throw new ParameterException(spec.commandLine(), option + " is 1 or more, not " + value);
        }
    }

    private static ApiClient member(String url, String keycloak, String tenant, String user, String password) {
        return ApiClient.ofUser(url, keycloak, tenant, user, password);
    }
}
