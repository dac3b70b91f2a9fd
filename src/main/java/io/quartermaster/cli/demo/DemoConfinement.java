package io.quartermaster.cli.demo;

import io.quartermaster.agent.Launcher;
import io.quartermaster.embedded.DataFolder;
import java.util.List;

/**
 * The confinement of the demonstration's work. Every user of the demonstration may run programs on this machine. The
 * confinement keeps these programs from the data folder, which contains the passwords of the service and its servers.
 *
 * @param options options of the agent
 * @param description the rights of the work, for the user who starts the service
 */
public record DemoConfinement(List<String> options, String description) {

    /**
     * No system assigns this number to a user. The number 65534 is not suitable, because that user may own the database
     * of a service that runs as root.
     */
    private static final int WORK_USER = 65_533;

    public static DemoConfinement choose(DataFolder folder, boolean unsafe) {
        if (unsafe) {
            return new DemoConfinement(
                    List.of(), "runs with all rights of the user who started the service, because of --unsafe-demo");
        }
        if (folder.grantTraversal("agent", WORK_USER)) {
            return new DemoConfinement(
                    List.of("--work-user", Integer.toString(WORK_USER)),
                    "runs as user " + WORK_USER + ", which cannot read the data folder");
        }
        // In a namespace, root would keep its rights over all other files.
        if (!System.getProperty("user.name").equals("root") && Launcher.canHideFolders()) {
            return new DemoConfinement(
                    List.of("--hide", folder.path().toString()), "runs as you, but cannot see the data folder");
        }
        return new DemoConfinement(
                List.of("--demonstration-only"),
                "only the program of qm demo runs, because this machine cannot keep other work from the data folder"
                        + " (--unsafe-demo runs any program, with your rights)");
    }
}
