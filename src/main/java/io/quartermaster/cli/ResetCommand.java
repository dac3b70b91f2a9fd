package io.quartermaster.cli;

import io.quartermaster.embedded.DataFolder;
import io.quartermaster.embedded.EmbeddedServices;
import io.quartermaster.launch.ExitCodes;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code qm reset}: removes all data of a data folder. */
@Command(
        name = "reset",
        mixinStandardHelpOptions = true,
        description =
                "Removes everything in the data folder: all tenants, work, usage and passwords. You cannot undo this.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:the folder is empty", "7:refused; the folder is unchanged"})
final class ResetCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Mixin
    private DataFolderOption dataFolder;

    @Option(names = "--yes", description = "Do not ask")
    private boolean yes;

    @Option(names = "--force", description = "Stop a running service first")
    private boolean force;

    /** Set by picocli before {@link #call}. */
    @SuppressWarnings("NullAway.Init")
    ResetCommand() {}

    @Override
    public Integer call() throws Exception {
        PrintWriter out = spec.commandLine().getOut();
        DataFolder folder = dataFolder.folder();
        if (!Files.isDirectory(folder.path())) {
            out.println("There is no data folder " + folder.path() + ".");
            return ExitCodes.OK;
        }
        if (!folder.isDataFolder()) {
            return refuse("The folder " + folder.path() + " was not made by Quartermaster; nothing was removed.");
        }
        Optional<RunFile> running = RunFile.ofRunning(folder);
        if (running.isPresent() && !force) {
            return refuse("Quartermaster runs on this data folder (process "
                    + running.get().process().pid() + "). Stop it with " + Installation.command()
                    + " down, or use --force.");
        }
        if (!yes && !confirmed(out, folder)) {
            return refuse("Nothing was removed.");
        }
        if (running.isPresent()) {
            DownCommand.stop(folder, out);
        }
        Optional<InstanceLock> lock = InstanceLock.tryAcquire(folder);
        if (lock.isEmpty()) {
            return refuse("Another command uses the data folder; nothing was removed.");
        }
        try (InstanceLock held = lock.get()) {
            EmbeddedServices.endLeftovers(folder);
            folder.empty();
            out.println("Removed everything in " + folder.path() + (held.lock().isValid() ? "." : ""));
        }
        return ExitCodes.OK;
    }

    private boolean confirmed(PrintWriter out, DataFolder folder) throws java.io.IOException {
        out.print("Remove everything in " + folder.path() + ": all tenants, work and usage? Type yes: ");
        out.flush();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset()));
        return "yes".equals(in.readLine());
    }

    private int refuse(String why) {
        spec.commandLine().getErr().println("qm: " + why);
        return ExitCodes.REFUSED;
    }
}
