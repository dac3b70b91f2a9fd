package io.quartermaster.agent;

import io.quartermaster.agent.protocol.AttemptOrder;
import io.quartermaster.agent.protocol.Inventory.Isolation;
import io.quartermaster.agent.supervisor.Commands;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The ways in which this machine can start programs: in their own session, as the user of a tenant, and so that they
 * end with their parent.
 */
public final class Launcher {
    private static final long PROBE_TIMEOUT_MILLIS = 5_000;

    /**
     * Takes the work's folders, the number of folders to hide, these folders, and the rest of the command. It holds the
     * work's folders open while it covers the hidden folders, and then binds them at their old paths. The command
     * cannot undo this: it has no capability, and gains none.
     */
    private static final String HIDE = """
            exec 3<"$1" 4<"$2" || exit 126
            work=$1; kept=$2; left=$3; setpriv=$4; shift 4
            while [ "$left" -gt 0 ]; do
              mount -t tmpfs -o mode=0755,size=1m hidden "$1" || exit 126
              left=$((left - 1)); shift
            done
            mkdir -p "$work" "$kept" || exit 126
            mount -c --bind /proc/self/fd/3 "$work" && mount -c --bind /proc/self/fd/4 "$kept" || exit 126
            exec 3<&- 4<&-
            exec "$setpriv" --bounding-set=-all --inh-caps=-all --no-new-privs --pdeathsig KILL -- "$@"
            """;

    private static final List<String> NAMESPACE = List.of("unshare", "--user", "--map-root-user", "--mount", "--");

    private final Isolation isolation;
    private final Confinement confinement;
    private final List<String> session;
    private final Optional<String> setpriv;

    /** Removes, for the work, the protection from the kernel's OOM killer that agent and supervisors may have. */
    private final List<String> killable;

    private Launcher(Isolation isolation, Confinement confinement, List<String> session, Optional<String> setpriv) {
        this.isolation = isolation;
        this.confinement = confinement;
        this.session = session;
        this.setpriv = setpriv;
        this.killable = Commands.find("choom")
                .map(choom -> List.of(choom, "-n", "0", "--"))
                .filter(Launcher::succeeds)
                .orElse(List.of());
    }

    /**
     * @param wanted {@code NONE} to run all work as one user
     * @param confinement with {@code NONE}: the confinement of that user
     * @throws IOException with a message for the operator, when the machine does not support the isolation
     */
    static Launcher forMachine(Isolation wanted, Confinement confinement) throws IOException {
        // An older or smaller setpriv lacks this; then the agent kills the processes that a dead supervisor leaves.
        Optional<String> setpriv =
                Commands.find("setpriv").filter(program -> succeeds(List.of(program, "--pdeathsig", "KILL", "--")));
        switch (wanted) {
            case NONE -> requireConfinement(confinement, setpriv);
            case OS_USER -> {
                if (!isRoot()) {
                    throw new IOException("to run work as its tenant's user, the agent must run as root;"
                            + " otherwise start it with --isolation none");
                }
                if (setpriv.isEmpty()) {
                    throw new IOException("to run work as its tenant's user, setpriv of util-linux 2.33 or later is"
                            + " needed; otherwise start the agent with --isolation none");
                }
            }
            case CONTAINER -> throw new IOException("this agent runs no containers");
        }
        return new Launcher(wanted, confinement, session(), setpriv);
    }

    private static void requireConfinement(Confinement confinement, Optional<String> setpriv) throws IOException {
        switch (confinement) {
            case Confinement.OtherUser(int id) -> {
                if (!isRoot() || setpriv.isEmpty()) {
                    throw new IOException(
                            "to run work as user %d, the agent must run as root, with setpriv of util-linux 2.33 or later"
                                    .formatted(id));
                }
            }
            case Confinement.HiddenFolders hidden -> {
                if (!canHideFolders()) {
                    throw new IOException("this machine cannot hide folders from work: that needs user namespaces"
                            + " (unshare, mount and setpriv of util-linux) and perl");
                }
            }
            case Confinement.None none -> {}
            case Confinement.DemonstrationOnly only -> {}
        }
    }

    /**
     * Whether this user may create namespaces here, and all necessary programs exist. Perl is one of them, because the
     * other starter lies in the agent's folder, which is hidden.
     */
    public static boolean canHideFolders() {
        List<String> probe = new ArrayList<>(NAMESPACE);
        probe.addAll(List.of(
                "/bin/sh", "-c", "mount -t tmpfs hidden /mnt && exec setpriv --bounding-set=-all \"$@\"", "sh"));
        return Commands.find("perl").isPresent() && succeeds(probe);
    }

    /** The first arguments of the command for a program that must outlive this process and its terminal. */
    List<String> detached() {
        return session;
    }

    /**
     * The first arguments of the command for a tenant's work. Throws, with the reason, when the work may not run here.
     *
     * @param work the folder in which the work starts
     * @param checkpoints the folder of its checkpoints
     */
    List<String> forWork(AttemptOrder order, Path work, Path checkpoints) throws IOException {
        if (confinement instanceof Confinement.DemonstrationOnly && !DemonstrationProgram.isOrdered(order)) {
            throw new IOException("this node runs the demonstration's own program only, because it cannot keep other"
                    + " commands from the files of the user that runs it; start the service with "
                    + "--unsafe-demo to run other commands");
        }
        List<String> arguments = new ArrayList<>(killable);
        if (setpriv.isPresent()) {
            arguments.addAll(List.of(setpriv.get(), "--pdeathsig", "KILL"));
            arguments.addAll(identityArguments(order));
            arguments.add("--");
        }
        arguments.addAll(session);
        if (confinement instanceof Confinement.HiddenFolders(List<Path> folders)) {
            arguments.addAll(NAMESPACE);
            arguments.addAll(List.of("/bin/sh", "-c", HIDE, "sh", work.toString(), checkpoints.toString()));
            arguments.add(Integer.toString(folders.size()));
            arguments.add(setpriv.orElse("setpriv"));
            folders.forEach(folder -> arguments.add(folder.toString()));
        }
        return List.copyOf(arguments);
    }

    private List<String> identityArguments(AttemptOrder order) throws IOException {
        if (confinement instanceof Confinement.OtherUser(int id)) {
            String number = Integer.toString(id);
            return List.of("--reuid", number, "--regid", number, "--clear-groups", "--no-new-privs");
        }
        Optional<String> user = user(order);
        return user.isEmpty()
                ? List.of()
                : List.of(
                        "--reuid",
                        user.get(),
                        "--regid",
                        identity("-g", user.get()),
                        "--init-groups",
                        "--no-new-privs");
    }

    /** The user that runs the work of this order; empty for the agent's own. */
    Optional<String> user(AttemptOrder order) throws IOException {
        return switch (isolation) {
            case NONE, CONTAINER ->
                confinement instanceof Confinement.OtherUser(int id)
                        ? Optional.of(Integer.toString(id))
                        : Optional.empty();
            case OS_USER -> {
                String user = order.runUser();
                if (user == null) {
                    throw new IOException("tenant %s has no user on this node".formatted(order.tenant()));
                }
                if (identity("-u", user).equals("0")) {
                    throw new IOException("work may not run as root");
                }
                yield Optional.of(user);
            }
        };
    }

    /**
     * Creates a folder that only the work's user can enter, unless it exists. Its parents belong to the agent, so that
     * no tenant can replace one by a link.
     */
    static void makeFolder(Path folder, Optional<String> user) throws IOException {
        if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
            Files.createDirectory(
                    folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        }
        if (user.isPresent()) {
            UserPrincipal owner =
                    folder.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName(user.get());
            if (!Files.getOwner(folder, LinkOption.NOFOLLOW_LINKS).equals(owner)) {
                Files.setOwner(folder, owner);
            }
        }
    }

    private static String identity(String option, String user) throws IOException {
        try {
            return Commands.output(PROBE_TIMEOUT_MILLIS, "/usr/bin/id", option, "--", user)
                    .strip();
        } catch (IOException e) {
            throw new IOException("there is no user %s on this node".formatted(user), e);
        }
    }

    private static boolean isRoot() throws IOException {
        return Commands.output(PROBE_TIMEOUT_MILLIS, "/usr/bin/id", "-u")
                .strip()
                .equals("0");
    }

    /** Whether this user can start programs with these first arguments on this machine. */
    private static boolean succeeds(List<String> arguments) {
        try {
            List<String> command = new ArrayList<>(arguments);
            command.add("true");
            Commands.output(PROBE_TIMEOUT_MILLIS, command.toArray(String[]::new));
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** The command that starts a session. setsid(1) is part of util-linux; macOS lacks it, but has Perl. */
    private static List<String> session() throws IOException {
        Optional<String> setsid = Commands.find("setsid");
        if (setsid.isPresent()) {
            return List.of(setsid.get());
        }
        String perl = Commands.find("perl")
                .orElseThrow(() -> new IOException("neither setsid nor perl was found in " + Commands.PATH));
        return List.of(perl, "-MPOSIX=setsid", "-e", "setsid(); exec { $ARGV[0] } @ARGV; exit 127", "--");
    }
}
