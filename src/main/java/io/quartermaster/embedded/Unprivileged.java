package io.quartermaster.embedded;

import io.quartermaster.launch.StartFailure;
import java.nio.file.Path;
import java.util.List;

/**
 * The way to run a program that refuses root, such as PostgreSQL, when the service itself runs as root. A user
 * namespace of its own is preferred, where the kernel allows it: the files stay root's. Otherwise the program runs as
 * user 65534, which then owns the data.
 */
sealed interface Unprivileged {

    /** The prefix of the command; the process keeps its pid. */
    List<String> prefix();

    /** Makes a folder usable for the program. */
    void grantAccess(Path folder);

    static Unprivileged choose() {
        if (!ProcessSessions.isRoot()) {
            return new AsIs();
        }
        if (ProcessSessions.succeeds("unshare", "-U", "true")) {
            return new OwnNamespace();
        }
        if (ProcessSessions.onPath("setpriv").isPresent()) {
            return new AsNobody();
        }
        throw new StartFailure(
                "PostgreSQL does not run as root, and this system offers neither user namespaces nor setpriv to "
                        + "leave root. "
                        + "Run as an ordinary user, or set QM_DATABASE_URL to an external database.");
    }

    /** The service does not run as root, so nothing changes. */
    record AsIs() implements Unprivileged {
        @Override
        public List<String> prefix() {
            return List.of();
        }

        @Override
        public void grantAccess(Path folder) {}
    }

    /** A user namespace without any mapping: the program sees itself as an unknown user. */
    record OwnNamespace() implements Unprivileged {
        @Override
        public List<String> prefix() {
            return List.of("unshare", "-U");
        }

        @Override
        public void grantAccess(Path folder) {}
    }

    /** User 65534, which every Linux has. */
    record AsNobody() implements Unprivileged {
        private static final String NOBODY = "65534";

        @Override
        public List<String> prefix() {
            return List.of("setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups");
        }

        @Override
        public void grantAccess(Path folder) {
            boolean given = ProcessSessions.succeeds("chown", "-R", NOBODY + ":" + NOBODY, folder.toString());
            boolean reachable = given
                    && ProcessSessions.succeeds(
                            "setpriv",
                            "--reuid",
                            NOBODY,
                            "--regid",
                            NOBODY,
                            "--clear-groups",
                            "test",
                            "-w",
                            folder.toString());
            if (!reachable) {
                throw new StartFailure("PostgreSQL does not run as root, and the user it runs as cannot reach " + folder
                        + ". Run as an ordinary user, or use QM_DATA_DIR to choose a data folder that other "
                        + "users can enter.");
            }
        }
    }
}
