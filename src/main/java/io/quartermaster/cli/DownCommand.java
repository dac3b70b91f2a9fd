package io.quartermaster.cli;

import io.quartermaster.embedded.DataFolder;
import io.quartermaster.embedded.EmbeddedServices;
import io.quartermaster.launch.ExitCodes;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code qm down}: stops the service of a data folder, and the programs that a killed service left running. */
@Command(
        name = "down",
        mixinStandardHelpOptions = true,
        description = {
            "Stops the service and the programs that it started. Does nothing if none of them runs.",
            "The jobs that run on the agent of this machine end. After the next qm up they start again, each as a new"
                    + " attempt."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:no program runs on the data folder"})
final class DownCommand implements Callable<Integer> {

    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(90);

    @Spec
    private CommandSpec spec;

    @Mixin
    private DataFolderOption dataFolder;

    /** Set by picocli before {@link #call}. */
    @SuppressWarnings("NullAway.Init")
    DownCommand() {}

    @Override
    public Integer call() throws Exception {
        stop(dataFolder.folder(), spec.commandLine().getOut());
        return ExitCodes.OK;
    }

    static void stop(DataFolder folder, PrintWriter out) throws IOException, InterruptedException {
        Optional<RunFile> run = RunFile.ofRunning(folder);
        if (run.isPresent()) {
            out.printf(
                    "Stopping Quartermaster (process %d) ...%n",
                    run.get().process().pid());
            out.flush();
            endProcess(run.get(), out);
        }
        EmbeddedServices.endLeftovers(folder);
        RunFile.remove(folder);
        out.println(run.isPresent() ? "Stopped." : "Quartermaster does not run on " + folder.path() + ".");
        out.flush();
    }

    private static void endProcess(RunFile run, PrintWriter out) throws InterruptedException {
        Optional<ProcessHandle> process = run.process().find();
        process.ifPresent(ProcessHandle::destroy);
        long end = System.nanoTime() + STOP_TIMEOUT.toNanos();
        while (run.process().find().isPresent()) {
            if (System.nanoTime() > end) {
                out.printf("The process does not end; killing it.%n");
                process.ifPresent(ProcessHandle::destroyForcibly);
            }
            // It is no child of this one, so the JDK has no event for its end: its onExit would look less often.
            Thread.sleep(50);
        }
    }
}
