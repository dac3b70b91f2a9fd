package io.quartermaster.embedded;

import java.nio.file.Path;
import java.util.List;

/**
 * How to run a program that refuses root, as PostgreSQL does, when the service itself runs as root: in a user namespace of its own where
 * the kernel allows that (files stay root's), else as the system's "nobody" (who then owns the data).
 */
sealed interface Unprivileged {

    /** What stands before the command; the process keeps its pid. */
    List<String> prefix();

    /** Makes a folder usable for the program. */
    void give(Path folder);

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
                "PostgreSQL does not run as root, and this system offers neither user namespaces nor setpriv to leave root. "
                        + "Run as an ordinary user, or give a database with QM_DATABASE_URL.");
    }

    /** The service is no root; nothing to do. */
    record AsIs() implements Unprivileged {
        @Override
        public List<String> prefix() {
            return List.of();
        }

        @Override
        public void give(Path folder) {}
    }

    /** A user namespace without any mapping: the program sees itself as an unknown user. */
    record OwnNamespace() implements Unprivileged {
        @Override
        public List<String> prefix() {
            return List.of("unshare", "-U");
        }

        @Override
        public void give(Path folder) {}
    }

    /** As the user 65534, which every Linux has. */
    record AsNobody() implements Unprivileged {
        private static final String NOBODY = "65534";

        @Override
        public List<String> prefix() {
            return List.of("setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups");
        }

        @Override
        public void give(Path folder) {
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
                throw new StartFailure(
                        "PostgreSQL does not run as root, and the user it runs as cannot reach " + folder
                                + ". Run as an ordinary user, or choose a data folder that others may pass through with QM_DATA_DIR.");
            }
        }
    }
}
