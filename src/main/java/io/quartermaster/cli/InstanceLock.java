package io.quartermaster.cli;

import io.quartermaster.embedded.DataFolder;
import io.quartermaster.launch.StartFailure;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/**
 * The lock that the one service of a data folder holds. The operating system releases it when the process ends, even
 * after a crash.
 */
record InstanceLock(FileChannel channel, FileLock lock) implements AutoCloseable {

    /** Empty when another process holds it. */
    static Optional<InstanceLock> tryAcquire(DataFolder folder) {
        try {
            FileChannel channel =
                    FileChannel.open(folder.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            FileLock lock = channel.tryLock();
            if (lock == null) {
                channel.close();
                return Optional.empty();
            }
            return Optional.of(new InstanceLock(channel, lock));
        } catch (IOException e) {
            throw new StartFailure("Cannot lock the data folder " + folder.path() + ": " + e.getMessage(), e);
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
