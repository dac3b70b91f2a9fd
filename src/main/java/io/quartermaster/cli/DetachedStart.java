package io.quartermaster.cli;

import io.quartermaster.embedded.DataFolder;
import io.quartermaster.embedded.EmbeddedServices;
import io.quartermaster.launch.ExitCodes;
import io.quartermaster.launch.StartFailure;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Starts the same command again in the background and waits until it is ready; meanwhile it shows the output of that
 * command.
 */
final class DetachedStart {

    /** Marks the command in the background; its arguments are those of the one in the foreground. */
    private static final String DETACHED_PROPERTY = "qm.detached";

    private static final Duration START_TIMEOUT = Duration.ofMinutes(10);
    private static final Duration POLL_INTERVAL = Duration.ofMillis(100);

    private final PrintWriter out;
    private final DataFolder folder;

    DetachedStart(PrintWriter out, DataFolder folder) {
        this.out = out;
        this.folder = folder;
    }

    /** Whether this process was started by {@link #start}. */
    static boolean isDetached() {
        return Boolean.getBoolean(DETACHED_PROPERTY);
    }

    int start(List<String> arguments) throws IOException, InterruptedException {
        DataFolder.open(folder.path());
        Path log = folder.log("up");
        Files.deleteIfExists(log);
        List<String> jvmOptions = ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(option -> !option.startsWith("-Dqm.home="))
                .toList();
        List<String> options = new ArrayList<>(jvmOptions);
        options.add("-D" + DETACHED_PROPERTY + "=true");
        List<String> command = new ArrayList<>(EmbeddedServices.ownSession());
        command.addAll(Installation.launch(options));
        arguments.stream().filter(argument -> !argument.equals("--detach")).forEach(command::add);
        Process process = new ProcessBuilder(command)
                .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        long end = System.nanoTime() + START_TIMEOUT.toNanos();
        long shown = 0;
        boolean ended = false;
        while (System.nanoTime() < end) {
            // The service writes its last line before it is ready, so the log is complete when it is read after that.
            boolean ready = RunFile.ofRunning(folder).filter(RunFile::ready).isPresent();
            shown = printNewLines(log, shown);
            if (ended) {
                return process.exitValue();
            }
            if (ready) {
                return ExitCodes.OK;
            }
            ended = process.waitFor(POLL_INTERVAL.toMillis(), TimeUnit.MILLISECONDS);
        }
        throw new StartFailure(
                "The service was not ready after " + START_TIMEOUT.toMinutes() + " minutes; see " + log + ".");
    }

    /** Prints the lines added since, and returns the new position. */
    private long printNewLines(Path log, long from) throws IOException {
        byte[] all = Files.readAllBytes(log);
        out.print(new String(all, (int) from, all.length - (int) from, java.nio.charset.StandardCharsets.UTF_8));
        out.flush();
        return all.length;
    }
}
