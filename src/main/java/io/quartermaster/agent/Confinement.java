package io.quartermaster.agent;

import java.nio.file.Path;
import java.util.List;

/**
 * The protection of the files of the agent's user from work, on nodes that do not isolate tenants. It is for
 * demonstrations, in which the agent runs on a viewer's machine and with the viewer's rights.
 */
public sealed interface Confinement {
    /** No protection: work has the agent's rights. */
    record None() implements Confinement {}

    /**
     * All work runs as another user, which the system need not know; needs root.
     *
     * @param id the number of the user and of the group
     */
    record OtherUser(int id) implements Confinement {
        public OtherUser {
            if (id < 1 || id > 65_535) {
                throw new IllegalArgumentException("the user for work is from 1 to 65535, not %d".formatted(id));
            }
        }
    }

    /**
     * Work runs in its own user and mount namespaces, in which these folders are empty except for the work's own
     * folders. It keeps the user's other rights: it can read the user's other files, and signal the user's processes.
     */
    record HiddenFolders(List<Path> folders) implements Confinement {
        public HiddenFolders {
            folders = List.copyOf(folders);
            if (folders.isEmpty() || !folders.stream().allMatch(Path::isAbsolute)) {
                throw new IllegalArgumentException("folders to hide are absolute paths, not " + folders);
            }
        }
    }

    /** Only {@link DemonstrationProgram} runs. */
    record DemonstrationOnly() implements Confinement {}
}
