package io.quartermaster.agent;

import io.quartermaster.agent.supervisor.StateFile;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * The agent's folder, while this process is the only agent that uses it. What is in it is described at {@link
 * Attempts}. Folders on the way to a tenant's can be passed but not listed by others (0711), all else is closed to them.
 */
final class StateFolder implements AutoCloseable {
    private static final String LOCK = "agent.lock";

    private final Path path;
    private final FileChannel lock;

    private StateFolder(Path path, FileChannel lock) {
        this.path = path;
        this.lock = lock;
    }

    /** Throws an IOException with a message for the operator when another agent uses the folder. */
    static StateFolder open(Path folder) throws IOException {
        Path path = folder.toAbsolutePath().normalize();
        if (Files.exists(path) && !Files.exists(path.resolve(LOCK)) && !isEmpty(path)) {
            throw new IOException("%s holds something else; the agent needs a folder of its own".formatted(path));
        }
        make(path, "rwx--x--x");
        FileChannel channel = openLock(path.resolve(LOCK));
        FileLock lock = null;
        try {
            lock = channel.tryLock();
        } catch (OverlappingFileLockException e) {
            // Held by this very process.
        }
        if (lock == null) {
            channel.close();
            throw new IOException("another agent is already using " + path);
        }
        StateFolder state = new StateFolder(path, channel);
        make(state.attempts(), "rwx------");
        make(state.forgotten(), "rwx------");
        make(state.program(), "rwx--x--x");
        make(state.trash(), "rwx------");
        make(state.identity(), "rwx------");
        make(state.tenants(), "rwx--x--x");
        return state;
    }

    /** For the agent alone, whatever the umask: whoever else could open it could hold a lock on it. */
    private static FileChannel openLock(Path file) throws IOException {
        Set<PosixFilePermission> own = PosixFilePermissions.fromString("rw-------");
        FileChannel channel = FileChannel.open(
                file,
                Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE),
                PosixFilePermissions.asFileAttribute(own));
        Files.setPosixFilePermissions(file, own);
        return channel;
    }

    private static boolean isEmpty(Path folder) throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.findAny().isEmpty();
        }
    }

    private static void make(Path folder, String permissions) throws IOException {
        Files.createDirectories(folder);
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString(permissions));
    }

    Path path() {
        return path;
    }

    Path attempts() {
        return path.resolve("attempts");
    }

    Path forgotten() {
        return path.resolve("forgotten");
    }

    Path program() {
        return path.resolve("program");
    }

    /** What is still to be deleted. */
    Path trash() {
        return path.resolve("trash");
    }

    /** What the service knows this node's agent by. */
    Path identity() {
        return path.resolve("identity");
    }

    /** Of this folder: made once, so that the service can tell it from the folder of another agent with the same credential. */
    UUID id() throws IOException {
        Path file = identity().resolve("id");
        Optional<StateFile> known = StateFile.read(file);
        if (known.isPresent()) {
            return UUID.fromString(known.get().text("id"));
        }
        UUID made = UUID.randomUUID();
        new StateFile().with("id", made).writeDurably(file);
        return made;
    }

    private Path tenants() {
        return path.resolve("tenants");
    }

    /** Where the workloads of a tenant find their checkpoints again. */
    Path checkpoints(String tenant) {
        return tenants().resolve(tenant).resolve("checkpoints");
    }

    /** All there are, of all tenants. */
    List<Path> allCheckpoints() throws IOException {
        List<Path> found = new ArrayList<>();
        for (Path tenant : list(tenants())) {
            Path folder = tenant.resolve("checkpoints");
            if (Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
                found.addAll(list(folder));
            }
        }
        return found;
    }

    private static List<Path> list(Path folder) throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.sorted().toList();
        }
    }

    Path work(String tenant) {
        return tenants().resolve(tenant).resolve("work");
    }

    /** Whether the folder holds, or held and still keeps, files of a tenant other than this one. */
    boolean holdsOtherThan(String tenant) throws IOException {
        try (Stream<Path> entries = Files.list(tenants())) {
            return entries.anyMatch(entry -> !entry.getFileName().toString().equals(tenant));
        }
    }

    void makeTenant(String tenant) throws IOException {
        make(tenants().resolve(tenant), "rwx--x--x");
        make(checkpoints(tenant), "rwx--x--x");
        make(work(tenant), "rwx--x--x");
    }

    @Override
    public void close() throws IOException {
        lock.close();
    }
}
