package io.quartermaster.agent;

import java.nio.file.Path;
import java.util.List;

/**
 * What keeps work from the files of whoever runs the agent, where tenants are not kept apart: for demonstrations, in which the agent runs
 * on the machine, and with the rights, of the person who looks at it.
 */
public sealed interface Confinement {
    /** Nothing: work has the agent's rights. */
    record None() implements Confinement {}

    /**
     * All work runs as another user, who need not be known to the system; needs root.
     *
     * @param id of user and group
     */
    record OtherUser(int id) implements Confinement {
        public OtherUser {
            if (id < 1 || id > 65_535) {
                throw new IllegalArgumentException("the user for work is from 1 to 65535, not %d".formatted(id));
            }
        }
    }

    /**
     * Work runs in a namespace of users and mounts of its own, in which these folders are empty but for its own folders. It keeps the user's
     * other rights: it can read the user's other files, and signal the user's processes.
     */
    record HiddenFolders(List<Path> folders) implements Confinement {
        public HiddenFolders {
            folders = List.copyOf(folders);
            if (folders.isEmpty() || !folders.stream().allMatch(Path::isAbsolute)) {
                throw new IllegalArgumentException("folders to hide are absolute paths, not " + folders);
            }
        }
    }

    /** Nothing runs but {@link DemonstrationProgram}. */
    record DemonstrationOnly() implements Confinement {}
}
