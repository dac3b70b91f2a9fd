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
 * The agent's folder, locked so that only this agent uses it. {@link Attempts} describes its content. Other users can
 * pass through the folders above a tenant's folder, but cannot list them (0711); everything else is closed to them.
 */
final class StateFolder implements AutoCloseable {
    private static final String LOCK = "agent.lock";

    private final Path path;
    private final FileChannel lock;

    private StateFolder(Path path, FileChannel lock) {
        this.path = path;
        this.lock = lock;
    }

    /** Opens and locks the folder. Throws an IOException with a message for the operator when another agent uses it. */
    static StateFolder open(Path folder) throws IOException {
        Path path = folder.toAbsolutePath().normalize();
        if (Files.exists(path) && !Files.exists(path.resolve(LOCK)) && !isEmpty(path)) {
            throw new IOException("%s holds other files; give the agent a folder of its own".formatted(path));
        }
        createFolder(path, "rwx--x--x");
        FileChannel channel = openLock(path.resolve(LOCK));
        FileLock lock = null;
        try {
            lock = channel.tryLock();
        } catch (OverlappingFileLockException e) {
            // This process itself holds the lock.
        }
        if (lock == null) {
            channel.close();
            throw new IOException("another agent is already using " + path);
        }
        StateFolder state = new StateFolder(path, channel);
        createFolder(state.attempts(), "rwx------");
        createFolder(state.forgotten(), "rwx------");
        createFolder(state.program(), "rwx--x--x");
        createFolder(state.trash(), "rwx------");
        createFolder(state.identity(), "rwx------");
        createFolder(state.tenants(), "rwx--x--x");
        return state;
    }

    /** Opens the file for the agent alone, whatever the umask: another user that can open it could lock it. */
    private static FileChannel openLock(Path file) throws IOException {
        Set<PosixFilePermission> own = PosixFilePermissions.fromString("rw-------");
        FileChannel channel = FileChannel.open(
                file,
                Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE),
                PosixFilePermissions.asFileAttribute(own));
        Files.setPosixFilePermissions(file, own);
        return channel;
    }

    /** The visible entries of a folder, in the order of their names. */
    static List<Path> entries(Path folder) throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.filter(entry -> !entry.getFileName().toString().startsWith("."))
                    .sorted()
                    .toList();
        }
    }

    private static boolean isEmpty(Path folder) throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.findAny().isEmpty();
        }
    }

    private static void createFolder(Path folder, String permissions) throws IOException {
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

    /** The folder of the files that are still to be deleted. */
    Path trash() {
        return path.resolve("trash");
    }

    /** The folder of the data that identifies this agent to the service: its id and its session. */
    Path identity() {
        return path.resolve("identity");
    }

    /**
     * The id of this folder. It is created once, so that the service can distinguish two agents with the same
     * credential.
     */
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

    /** The folder of a tenant's checkpoints. */
    Path checkpoints(String tenant) {
        return tenants().resolve(tenant).resolve("checkpoints");
    }

    /** The checkpoint folders of all workloads of all tenants. */
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

    /** Whether the folder holds files of another tenant, from running or earlier work. */
    boolean holdsOtherThan(String tenant) throws IOException {
        try (Stream<Path> entries = Files.list(tenants())) {
            return entries.anyMatch(entry -> !entry.getFileName().toString().equals(tenant));
        }
    }

    void makeTenant(String tenant) throws IOException {
        createFolder(tenants().resolve(tenant), "rwx--x--x");
        createFolder(checkpoints(tenant), "rwx--x--x");
        createFolder(work(tenant), "rwx--x--x");
    }

    @Override
    public void close() throws IOException {
        lock.close();
    }
}
