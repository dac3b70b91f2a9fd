package io.quartermaster.cli;

import io.quartermaster.cli.demo.ApiClient.ApiFailure;
import io.quartermaster.embedded.DataFolder;
import io.quartermaster.embedded.EmbeddedServices;
import io.quartermaster.embedded.Ports;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A service that a measurement starts for itself, on a new folder and free ports. Closing it stops the service; the
 * folder stays until {@link #delete}, so that the logs of a failed run can be read.
 */
final class MeasuredService implements AutoCloseable {

    private static final Duration START_TIMEOUT = Duration.ofMinutes(10);
    private static final Duration POLL_INTERVAL = Duration.ofMillis(200);
    private static final long STOP_TIMEOUT_SECONDS = 30;

    private final DataFolder folder;
    private final Process process;
    private final Thread shutdownHook = new Thread(this::stop, "end");

    private MeasuredService(DataFolder folder, Process process) {
        this.folder = folder;
        this.process = process;
    }

    /** @param jvmOptions options of the service's JVM, with which settings of the service are given too */
    static MeasuredService start(List<String> jvmOptions) throws IOException {
        DataFolder folder = DataFolder.open(Files.createTempDirectory("qm-load").resolve("data"));
        List<String> command = new ArrayList<>(EmbeddedServices.ownSession());
        command.addAll(Installation.launch(jvmOptions));
        command.addAll(List.of("up", "--data-dir", folder.path().toString()));
        for (String port :
                List.of("--http-port", "--management-port", "--postgres-port", "--redis-port", "--keycloak-port")) {
            command.addAll(List.of(port, Integer.toString(Ports.anyFree())));
        }
        Process process = new ProcessBuilder(command)
                .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
                .redirectErrorStream(true)
                .redirectOutput(folder.log("up").toFile())
                .start();
        MeasuredService service = new MeasuredService(folder, process);
        Runtime.getRuntime().addShutdownHook(service.shutdownHook);
        return service;
    }

    DataFolder folder() {
        return folder;
    }

    /** Waits until the service is ready. */
    RunFile awaitReady() throws InterruptedException {
        long end = System.nanoTime() + START_TIMEOUT.toNanos();
        do {
            Optional<RunFile> run = RunFile.ofRunning(folder).filter(RunFile::ready);
            if (run.isPresent()) {
                return run.get();
            }
        } while (System.nanoTime() < end && !process.waitFor(POLL_INTERVAL.toMillis(), TimeUnit.MILLISECONDS));
        throw new ApiFailure("The service did not start; see " + folder.log("up"));
    }

    /** Stops the service and deletes its folder. */
    void delete() throws IOException {
        stop();
        folder.empty();
        Files.delete(folder.path());
        Files.delete(folder.path().getParent());
    }

    @Override
    public void close() {
        stop();
    }

    private void stop() {
        process.destroy();
        try {
            if (!process.waitFor(STOP_TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        EmbeddedServices.endLeftovers(folder);
    }
}
