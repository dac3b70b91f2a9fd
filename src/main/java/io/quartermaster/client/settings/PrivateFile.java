package io.quartermaster.client.settings;

import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.ExitStatus;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/** A file that only its owner can read and write. A write replaces it in one step. */
final class PrivateFile {

    private static final Set<PosixFilePermission> OF_FILES = PosixFilePermissions.fromString("rw-------");
    private static final Set<PosixFilePermission> OF_FOLDERS = PosixFilePermissions.fromString("rwx------");

    /** A file's lock is one of the whole process: a second thread that takes it gets an exception. */
    private static final ReentrantLock IN_PROCESS = new ReentrantLock();

    private final Path file;

    PrivateFile(Path file) {
        this.file = file;
    }

    Path path() {
        return file;
    }

    /** The content; empty if there is no such file. */
    Optional<String> read() {
        try {
            return Optional.of(Files.readString(file));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (IOException e) {
            throw failure("cannot read " + file, e);
        }
    }

    /** Fails if other users of the machine may read the file. */
    void requirePrivate() {
        try {
            if (hasPermissions() && Files.exists(file)) {
                Set<PosixFilePermission> found = Files.getPosixFilePermissions(file);
                if (!OF_FILES.containsAll(found)) {
                    throw CommandFailure.usage(file + " holds tokens, and other users of this machine may read it ("
                            + PosixFilePermissions.toString(found) + "). Run: chmod 600 " + file);
                }
            }
        } catch (IOException e) {
            throw failure("cannot read the permissions of " + file, e);
        }
    }

    void write(String text) {
        try {
            createFolder();
            Path next = Files.createTempFile(folder(), file.getFileName().toString(), ".next", attributes(OF_FILES));
            Files.writeString(next, text, StandardCharsets.UTF_8);
            Files.move(next, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw failure("cannot write " + file, e);
        }
    }

    /** Runs the work while no other process, and no other thread of this one, has this file's lock. */
    <T> T locked(Supplier<T> work) {
        IN_PROCESS.lock();
        try {
            return lockedAgainstProcesses(work);
        } finally {
            IN_PROCESS.unlock();
        }
    }

    private <T> T lockedAgainstProcesses(Supplier<T> work) {
        Path lock = file.resolveSibling(file.getFileName() + ".lock");
        try {
            createFolder();
            try (FileChannel channel = FileChannel.open(
                            lock, Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE), attributes(OF_FILES));
                    FileLock held = channel.lock()) {
                if (!held.isValid()) {
                    throw new IllegalStateException("the lock of " + lock + " is not valid");
                }
                return work.get();
            }
        } catch (IOException e) {
            throw failure("cannot lock " + lock, e);
        }
    }

    private Path folder() {
        Path folder = file.toAbsolutePath().getParent();
        if (folder == null) {
            throw new IllegalStateException(file + " has no folder");
        }
        return folder;
    }

    private void createFolder() throws IOException {
        Files.createDirectories(folder(), attributes(OF_FOLDERS));
    }

    private static FileAttribute<?>[] attributes(Set<PosixFilePermission> permissions) {
        return hasPermissions()
                ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(permissions)}
                : new FileAttribute<?>[0];
    }

    private static boolean hasPermissions() {
        return FileSystems.getDefault().supportedFileAttributeViews().contains("posix");
    }

    private static CommandFailure failure(String what, IOException e) {
        return new CommandFailure(ExitStatus.FAILED, what + ": " + e.getMessage());
    }
}
