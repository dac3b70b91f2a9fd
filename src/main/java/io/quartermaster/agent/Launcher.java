package io.quartermaster.agent;

import io.quartermaster.agent.protocol.AttemptOrder;
import io.quartermaster.agent.protocol.Inventory.Isolation;
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
 * What this machine offers to start programs with: a session of their own, the user of a tenant, and an end when
 * their parent dies.
 */
final class Launcher {
    private static final long LIMIT_MILLIS = 5_000;

    private final Isolation isolation;
    private final List<String> session;
    private final Optional<String> setpriv;

    /** Undoes, for the work, the protection from the kernel's memory killer that agent and supervisors may have. */
    private final List<String> killable;

    private Launcher(Isolation isolation, List<String> session, Optional<String> setpriv) {
        this.isolation = isolation;
        this.session = session;
        this.setpriv = setpriv;
        this.killable = Commands.find("choom")
                .map(choom -> List.of(choom, "-n", "0", "--"))
                .filter(Launcher::works)
                .orElse(List.of());
    }

    /**
     * @param wanted {@code NONE} to run all work as the agent's own user
     * @throws IOException with a message for the operator, when the machine cannot do what is wanted
     */
    static Launcher forMachine(Isolation wanted) throws IOException {
        // An older or smaller setpriv lacks this; then the agent kills what a dead supervisor leaves.
        Optional<String> setpriv =
                Commands.find("setpriv").filter(program -> works(List.of(program, "--pdeathsig", "KILL", "--")));
        return switch (wanted) {
            case NONE -> new Launcher(wanted, session(), setpriv);
            case OS_USER -> {
                if (!isRoot()) {
                    throw new IOException("to run work as its tenant's user, the agent must run as root;"
                            + " otherwise start it with --isolation none");
                }
                if (setpriv.isEmpty()) {
                    throw new IOException("to run work as its tenant's user, setpriv of util-linux 2.33 or later is"
                            + " needed; otherwise start the agent with --isolation none");
                }
                yield new Launcher(wanted, session(), setpriv);
            }
            case CONTAINER -> throw new IOException("this agent runs no containers");
        };
    }

    /** First arguments for a program that must outlive this process and its terminal. */
    List<String> detached() {
        return session;
    }

    /** First arguments for the work of a tenant. Throws, with the reason, when it may not run here. */
    List<String> forWork(AttemptOrder order) throws IOException {
        Optional<String> user = user(order);
        List<String> arguments = new ArrayList<>(killable);
        if (setpriv.isPresent()) {
            arguments.addAll(List.of(setpriv.get(), "--pdeathsig", "KILL"));
            if (user.isPresent()) {
                String group = identity("-g", user.get());
                arguments.addAll(List.of("--reuid", user.get(), "--regid", group, "--init-groups", "--no-new-privs"));
            }
            arguments.add("--");
        }
        arguments.addAll(session);
        return List.copyOf(arguments);
    }

    /** As which user the work of this order runs; empty for the agent's own. */
    Optional<String> user(AttemptOrder order) throws IOException {
        return switch (isolation) {
            case NONE, CONTAINER -> Optional.empty();
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
     * Makes a folder that only the work's user can enter, unless it is there. Its parents belong to the agent, so that no
     * tenant can put a link in the place of one.
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
            return Commands.output(LIMIT_MILLIS, "/usr/bin/id", option, "--", user)
                    .strip();
        } catch (IOException e) {
            throw new IOException("there is no user %s on this node".formatted(user), e);
        }
    }

    private static boolean isRoot() throws IOException {
        return Commands.output(LIMIT_MILLIS, "/usr/bin/id", "-u").strip().equals("0");
    }

    /** Whether these first arguments can be used on this machine by this user. */
    private static boolean works(List<String> arguments) {
        try {
            List<String> command = new ArrayList<>(arguments);
            command.add("true");
            Commands.output(LIMIT_MILLIS, command.toArray(String[]::new));
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** setsid(1) is part of util-linux; macOS has none, but Perl. */
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
