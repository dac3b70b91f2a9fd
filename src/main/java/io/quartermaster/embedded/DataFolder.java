package io.quartermaster.embedded;

import io.quartermaster.launch.StartFailure;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileStore;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;

/**
 * The folder with all durable data:
 *
 * <pre>
 * quartermaster.data   marker: Quartermaster created this folder, and reset may empty it
 * secrets.properties   generated passwords, readable by the owner only
 * lock, run.properties the running service
 * run/                 one pid file per child
 * bin/                 unpacked programs
 * postgres/ redis/     their data
 * agent/               the local agent's credential and state
 * log/                 one file per program
 * </pre>
 */
public record DataFolder(Path path) {

    private static final String MARKER = "quartermaster.data";
    private static final long MIN_FREE_BYTES = 512L << 20;

    public DataFolder {
        path = path.toAbsolutePath().normalize();
    }

    /** Creates the folder if needed; refuses a folder that holds foreign files, cannot be written, or has no room. */
    public static DataFolder open(Path path) {
        DataFolder folder = new DataFolder(path);
        try {
            if (!Files.isDirectory(folder.path)) {
                createPrivate(folder.path);
            }
            if (!folder.isDataFolder()) {
                if (!folder.isEmpty()) {
                    throw new StartFailure("The folder " + folder.path
                            + " is not empty and was not made by Quartermaster. Choose another with "
                            + "--data-dir or QM_DATA_DIR.");
                }
                Files.writeString(folder.path.resolve(MARKER), "format=1\n");
            }
            folder.requireWritable();
            folder.requireRoom();
            for (String child : new String[] {"run", "bin", "log"}) {
                createPrivate(folder.path.resolve(child));
            }
            return folder;
        } catch (IOException e) {
            throw new StartFailure("The data folder " + folder.path + " cannot be written (" + reason(e)
                    + "). Choose another with --data-dir or QM_DATA_DIR.");
        }
    }

    /** Whether Quartermaster created it. */
    public boolean isDataFolder() {
        return Files.isRegularFile(path.resolve(MARKER));
    }

    public Path resolve(String name) {
        return path.resolve(name);
    }

    public Path log(String program) {
        return path.resolve("log").resolve(program + ".log");
    }

    Path pidFile(String program) {
        return path.resolve("run").resolve(program + ".pid");
    }

    /**
     * Lets another user pass through the data folder to one folder in it, and closes the rest of it to that user.
     * Returns false, and opens nothing, where this program is not root, or the user could not reach the folder anyway.
     */
    public boolean grantTraversal(String child, int user) {
        if (!ProcessSessions.isRoot() || ProcessSessions.onPath("setpriv").isEmpty()) {
            return false;
        }
        Path open = path.resolve(child);
        try {
            Files.createDirectories(open);
            try (Stream<Path> children = Files.list(path)) {
                // The programs are not secret, and a database that runs as another user must reach them.
                for (Path each : children.filter(found -> !found.equals(open) && !found.endsWith("bin"))
                        .toList()) {
                    boolean folder = Files.isDirectory(each, LinkOption.NOFOLLOW_LINKS);
                    if (!Files.isSymbolicLink(each)) {
                        Files.setPosixFilePermissions(
                                each, PosixFilePermissions.fromString(folder ? "rwx------" : "rw-------"));
                    }
                }
            }
            Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwx--x--x"));
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwx--x--x"));
            if (succeedsAs(user, "-x", open)
                    && !succeedsAs(user, "-r", path)
                    && !succeedsAs(user, "-r", path.resolve("secrets.properties"))) {
                return true;
            }
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwx------"));
            return false;
        } catch (IOException e) {
            throw new StartFailure("Cannot set the permissions of " + path + ": " + reason(e), e);
        }
    }

    private static boolean succeedsAs(int user, String question, Path file) {
        String id = Integer.toString(user);
        return ProcessSessions.succeeds(
                "setpriv", "--reuid", id, "--regid", id, "--clear-groups", "test", question, file.toString());
    }

    /** The size of all files below it, in bytes; files that vanish meanwhile do not count. */
    public long sizeBytes() {
        long[] total = {0};
        try {
            Files.walkFileTree(path, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                    total[0] += attributes.size();
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFileFailed(Path file, IOException gone) {
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return total[0];
    }

    /**
     * Removes everything in it except the folder itself, the marker last, so that an interrupted removal can be
     * repeated.
     */
    public void empty() {
        if (!isDataFolder()) {
            throw new StartFailure("The folder " + path + " was not made by Quartermaster; nothing was removed.");
        }
        try (Stream<Path> children = Files.list(path)) {
            for (Path child : children.filter(c -> !c.endsWith(MARKER)).toList()) {
                deleteTree(child);
            }
            Files.delete(path.resolve(MARKER));
        } catch (IOException e) {
            throw new StartFailure("Could not remove all of " + path + " (" + reason(e) + ").", e);
        }
    }

    static void createPrivate(Path folder) throws IOException {
        if (folder.getFileSystem().supportedFileAttributeViews().contains("posix")) {
            Files.createDirectories(
                    folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        } else {
            Files.createDirectories(folder);
        }
    }

    static void deleteTree(Path root) throws IOException {
        if (!Files.exists(root, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.delete(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(
                    Path folder, @org.jspecify.annotations.Nullable IOException failure) throws IOException {
                if (failure != null) {
                    throw failure;
                }
                Files.delete(folder);
                return FileVisitResult.CONTINUE;
            }
        });
    }

    private boolean isEmpty() throws IOException {
        try (Stream<Path> children = Files.list(path)) {
            return children.findAny().isEmpty();
        }
    }

    private void requireWritable() throws IOException {
        Path probe = Files.createTempFile(path, "probe", null);
        Files.delete(probe);
    }

    private void requireRoom() throws IOException {
        FileStore store = Files.getFileStore(path);
        long free = store.getUsableSpace();
        if (free < MIN_FREE_BYTES) {
            throw new StartFailure("Only " + (free >> 20) + " MiB are free where the data folder " + path + " lies; "
                    + (MIN_FREE_BYTES >> 20)
                    + " MiB are needed. Make room, or choose another folder with --data-dir or QM_DATA_DIR.");
        }
    }

    private static String reason(IOException e) {
        String message = e.getMessage();
        return e.getClass().getSimpleName() + (message == null ? "" : ": " + message);
    }
}
