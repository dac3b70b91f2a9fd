package io.quartermaster.testing;

import io.quartermaster.embedded.DataFolder;
import io.quartermaster.embedded.EmbeddedServices;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A data folder of one test JVM. Names are reused, so that a run finds and ends the processes of a killed run;
 * concurrent runs get different folders.
 */
record TestFolder(Path data, FileChannel channel) {

    private static final int SIDE_BY_SIDE = 8;

    static TestFolder claim(Path target) {
        try {
            for (int i = 0; i < SIDE_BY_SIDE; i++) {
                Path data = target.resolve("it-services-" + i).toAbsolutePath();
                FileChannel channel = FileChannel.open(
                        target.resolve("it-services-" + i + ".lock"),
                        StandardOpenOption.CREATE,
                        StandardOpenOption.WRITE);
                if (locked(channel)) {
                    empty(new DataFolder(data));
                    return new TestFolder(data, channel);
                }
                channel.close();
            }
            throw new IllegalStateException("More than " + SIDE_BY_SIDE + " test runs side by side");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void release() {
        try {
            empty(new DataFolder(data));
            channel.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean locked(FileChannel channel) throws IOException {
        try {
            FileLock lock = channel.tryLock();
            return lock != null && lock.isValid();
        } catch (OverlappingFileLockException byThisJvm) {
            return false;
        }
    }

    static void empty(DataFolder folder) {
        if (Files.isDirectory(folder.path()) && folder.isDataFolder()) {
            EmbeddedServices.endLeftovers(folder);
            folder.empty();
        }
    }
}
