package io.quartermaster.cli;

import io.quartermaster.cli.demo.DemoConfinement;
import io.quartermaster.cli.demo.DemoPasswords;
import io.quartermaster.cli.demo.DemoSeed;
import io.quartermaster.cli.demo.DemoWorld;
import io.quartermaster.embedded.DataFolder;
import io.quartermaster.embedded.EmbeddedAgent;
import io.quartermaster.embedded.EmbeddedServices;
import io.quartermaster.embedded.ProgressListener;
import io.quartermaster.launch.ExitCodes;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.function.IntConsumer;

/** Runs beside the start of the service: waits for it and for Keycloak, then prints all addresses. */
final class Startup {

    private static final int POLL_MILLIS = 150;

    /** Longer than the service takes to see that Keycloak is up, and to confirm the realm. */
    private static final Duration OPERATOR_REALM_TIMEOUT = Duration.ofSeconds(30);

    private final PrintWriter out;
    private final ProgressListener progressListener;
    private final DataFolder folder;
    private final EmbeddedServices services;
    private final RunFile runFile;
    private DemoConfinement confinement = new DemoConfinement(List.of(), "");
    private final Optional<Demo> demonstration;
    private final Duration timeout;
    private final IntConsumer exit;

    /** The values that loading the demonstration needs. */
    record Demo(String operatorSecret, DemoPasswords passwords, boolean unsafe) {}

    Startup(
            PrintWriter out,
            ProgressListener progressListener,
            DataFolder folder,
            EmbeddedServices services,
            RunFile runFile,
            Optional<Demo> demonstration,
            Duration timeout,
            IntConsumer exit) {
        this.out = out;
        this.progressListener = progressListener;
        this.folder = folder;
        this.services = services;
        this.runFile = runFile;
        this.demonstration = demonstration;
        this.timeout = timeout;
        this.exit = exit;
    }

    /** Follows the start. The argument is the start of the command, on this JVM's nanosecond clock. */
    void run(long startedNanos) {
        try {
            ProgressListener.Step service = progressListener.begin("Service");
            if (!awaitService()) {
                progressListener.warn("The service did not become ready in time; see " + folder.log("service"));
                exit.accept(ExitCodes.CANNOT_START);
                return;
            }
            service.done(runFile.url());
            services.identity().get();
            awaitOperatorRealm();
            Optional<DemoSeed.LoadedDemo> demo = loadDemo();
            printSummary((System.nanoTime() - startedNanos) / 1e9, demo);
            // After the last line, because a waiting command in the foreground stops showing lines then.
            runFile.asReady().write(folder);
        } catch (ExecutionException e) {
            Throwable cause = e.getCause();
            progressListener.warn("Without Keycloak no user can sign in: " + (cause == null ? e : cause).getMessage());
            exit.accept(ExitCodes.CANNOT_START);
        } catch (IOException e) {
            progressListener.warn("Cannot write the run file: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean awaitService() throws InterruptedException {
        long end = System.nanoTime() + timeout.toNanos();
        try (HealthProbe healthProbe = new HealthProbe()) {
            while (System.nanoTime() < end) {
                if (healthProbe
                        .readiness(runFile.managementUrl())
                        .filter(HealthProbe.Health::canServe)
                        .isPresent()) {
                    return true;
                }
                // Only an answer shows that the service serves.
                Thread.sleep(POLL_MILLIS);
            }
        }
        return false;
    }

    /** Operators can sign in once the service has confirmed their realm. A realm of others is never confirmed. */
    private void awaitOperatorRealm() throws InterruptedException {
        long end = System.nanoTime() + OPERATOR_REALM_TIMEOUT.toNanos();
        try (HealthProbe healthProbe = new HealthProbe()) {
            while (System.nanoTime() < end) {
                if (healthProbe
                        .readiness(runFile.managementUrl())
                        .filter(HealthProbe.Health::operatorsCanSignIn)
                        .isPresent()) {
                    return;
                }
                Thread.sleep(POLL_MILLIS);
            }
        }
        progressListener.warn("The service has not confirmed the operator's realm, so operators cannot use it yet; see "
                + runFile.managementUrl() + "/health/ready");
    }

    /** The service is usable without the demonstration, so a failure is only reported. */
    private Optional<DemoSeed.LoadedDemo> loadDemo() {
        if (demonstration.isEmpty()) {
            return Optional.empty();
        }
        Demo demo = demonstration.get();
        ProgressListener.Step step = progressListener.begin("Demonstration");
        try {
            DemoSeed.LoadedDemo loaded = new DemoSeed(
                            runFile.url(), runFile.keycloakUrl(), demo.operatorSecret(), demo.passwords(), folder)
                    .load();
            step.done(String.join(", ", DemoSeed.TENANTS));
            confinement = DemoConfinement.choose(folder, demo.unsafe());
            services.startAgent(new EmbeddedAgent.Settings(
                    Installation.launchAgent(List.of("-Xmx96m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")),
                    runFile.url(),
                    DemoSeed.NODE,
                    loaded.tokenUrl(),
                    loaded.clientId(),
                    loaded.secretFile(),
                    DemoSeed.GPUS,
                    confinement.options()));
            return Optional.of(loaded);
        } catch (IOException | RuntimeException e) {
            progressListener.warn("Loading the demonstration failed: " + e.getMessage());
            return Optional.empty();
        }
    }

    private void printSummary(double seconds, Optional<DemoSeed.LoadedDemo> demo) {
        String url = runFile.url();
        String management = runFile.managementUrl();
        out.printf(
                Locale.ROOT,
                """

                Quartermaster is ready after %.1f s. %s stops everything.

                  API          %s          description: %s/openapi
                  Management   %s          health: %s/health   metrics: %s/metrics
                  Keycloak     %s          administrator "admin", password in %s
                  Logs         %s
                """,
                seconds,
                (DetachedStart.isDetached() ? "" : "Ctrl-C or ") + Installation.command() + " down",
                url,
                url,
                management,
                management,
                management,
                runFile.keycloakUrl(),
                folder.resolve("secrets.properties"),
                folder.resolve("log"));
        out.println(demo.map(loaded -> usersText()).orElse("\n  curl " + management + "/health/ready\n"));
        out.flush();
    }

    private String usersText() {
        DemoPasswords passwords = demonstration.orElseThrow().passwords();
        return """
                  Operator     operator / %1$s            at realm operator
                  Tenants      %2$s, each a realm of that name, with
                                 admin / %3$s
                                 rnd-member, devops-member / %4$s
                                 viewer / %5$s
                  Work         %6$s

                  A first look, as a member of %7$s (the password is above; operators use --tenant operator):

                    %9$s context add demo --server %8$s --tenant %7$s
                    %9$s login --user rnd-member
                    %9$s queues
                    %9$s submit -q %10$s --follow -- sh -c 'echo hello; sleep 3; echo done'

                  The worked example, with preemption and a bill: %9$s demo
                """.formatted(
                        passwords.operator(),
                        String.join(" and ", DemoSeed.TENANTS),
                        passwords.admin(),
                        passwords.member(),
                        passwords.viewer(),
                        confinement.description(),
                        DemoSeed.TENANTS.getFirst(),
                        runFile.url(),
                        Installation.command(),
                        DemoWorld.queue("rnd", 1));
    }
}
