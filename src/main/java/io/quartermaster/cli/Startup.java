package io.quartermaster.cli;

import io.quarkus.runtime.Quarkus;
import io.quartermaster.embedded.DataFolder;
import io.quartermaster.embedded.EmbeddedServices;
import io.quartermaster.embedded.Progress;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.ExecutionException;

/** What happens beside the service while it comes up: waits for it and for Keycloak, then tells where everything is. */
final class Startup {

    private static final Duration SERVICE_PATIENCE = Duration.ofMinutes(3);

    private final PrintWriter out;
    private final Progress progress;
    private final DataFolder folder;
    private final EmbeddedServices services;
    private final RunFile runFile;
    private final ServiceRun.Settings settings;

    Startup(
            PrintWriter out,
            Progress progress,
            DataFolder folder,
            EmbeddedServices services,
            RunFile runFile,
            ServiceRun.Settings settings) {
        this.out = out;
        this.progress = progress;
        this.folder = folder;
        this.services = services;
        this.runFile = runFile;
        this.settings = settings;
    }

    /** The argument is when the command began, on this JVM's nanosecond clock. */
    void follow(long begun) {
        try {
            Progress.Step service = progress.begin("Service");
            if (!awaitService()) {
                progress.warn("The service does not answer; see " + folder.log("service"));
                return;
            }
            service.done(runFile.url());
            services.identity().get();
            runFile.becomeReady().write(folder);
            summary((System.nanoTime() - begun) / 1e9);
        } catch (ExecutionException e) {
            Throwable cause = e.getCause();
            progress.warn("Without Keycloak nobody can sign in: " + (cause == null ? e : cause).getMessage());
            Quarkus.asyncExit(ExitCodes.CANNOT_START);
        } catch (IOException e) {
            progress.warn("Cannot write the run file: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean awaitService() throws InterruptedException {
        long end = System.nanoTime() + SERVICE_PATIENCE.toNanos();
        try (Probe probe = new Probe()) {
            while (System.nanoTime() < end) {
                if (probe.ready(runFile.url()).filter(Probe.Health::up).isPresent()) {
                    return true;
                }
                Thread.sleep(50);
            }
        }
        return false;
    }

    private void summary(double seconds) {
        out.printf(
                Locale.ROOT,
                """

                Quartermaster is ready after %.1f s. Ctrl-C or qm down stops everything.

                  API          %s          description: %s/openapi   health: %s/health
                  Keycloak     %s          administrator "admin", password in %s
                  Logs         %s

                  curl %s/health/ready
                %n""",
                seconds,
                runFile.url(),
                runFile.url(),
                runFile.url(),
                runFile.keycloakUrl(),
                folder.resolve("secrets.properties"),
                folder.resolve("log"),
                runFile.url());
        if (!settings.agent()) {
            out.println("  No agent was started (--no-agent).");
        }
        out.flush();
    }
}
