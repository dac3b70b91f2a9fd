package io.quartermaster.cli.demo;

import io.quartermaster.agent.Launcher;
import io.quartermaster.embedded.DataFolder;
import java.util.List;

/**
 * What keeps the demonstration's work from the data folder, and so from the passwords of everything that runs here: whoever may sign in
 * to the demonstration may run programs on this machine.
 *
 * @param options of the agent
 * @param description for the one who starts the service: what work does
 */
public record DemoConfinement(List<String> options, String description) {

    /** No system gives this number to a user; nobody's, 65534, may own the database of a service that runs as root. */
    private static final int WORK_USER = 65_533;

    public static DemoConfinement choose(DataFolder folder, boolean unsafe) {
        if (unsafe) {
            return new DemoConfinement(
                    List.of(), "runs with all rights of the user who started this, because of --unsafe-demo");
        }
        if (folder.letWorkPass("agent", WORK_USER)) {
            return new DemoConfinement(
                    List.of("--work-user", Integer.toString(WORK_USER)),
                    "runs as user " + WORK_USER + ", who cannot read the data folder");
        }
        // A namespace would leave root its rights over everything else.
        if (!System.getProperty("user.name").equals("root") && Launcher.canHideFolders()) {
            return new DemoConfinement(
                    List.of("--hide", folder.path().toString()), "runs as you, but cannot see the data folder");
        }
        return new DemoConfinement(
                List.of("--demonstration-only"),
                "only the program of qm demo runs, because this machine offers no way to keep work from the data folder"
                        + " (--unsafe-demo: run any, with your rights)");
    }
}
