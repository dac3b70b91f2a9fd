package io.quartermaster.embedded;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jboss.logging.Logger;

/**
 * Bounds the logs of children while they run. A child keeps writing at the end of its log file. So a log that is too
 * long is copied and then emptied in place; lines written between the two steps are lost.
 */
final class LogRotation implements AutoCloseable {

    /** A log may exceed this until the next check. */
    static final long LOG_BYTES = 16L << 20;

    private static final Logger LOG = Logger.getLogger(LogRotation.class);
    private static final Duration INTERVAL = Duration.ofSeconds(30);
    /** The log of the service itself, whose own logging rotates it. */
    private static final String OWN_LOG = "service.log";

    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(
            work -> Thread.ofPlatform().daemon().name("log-rotation").unstarted(work));

    private LogRotation() {}

    /** Checks all logs of that folder from now on. */
    static LogRotation of(DataFolder folder) {
        LogRotation rotation = new LogRotation();
        rotation.timer.scheduleWithFixedDelay(
                () -> rotateAll(folder.resolve("log"), LOG_BYTES),
                INTERVAL.toMillis(),
                INTERVAL.toMillis(),
                TimeUnit.MILLISECONDS);
        return rotation;
    }

    static void rotateAll(Path logs, long bytes) {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(logs, "*.log")) {
            for (Path log : files) {
                if (!log.endsWith(OWN_LOG)) {
                    rotate(log, bytes);
                }
            }
        } catch (IOException | RuntimeException e) {
            LOG.debugf(e, "Cannot rotate the logs in %s", logs);
        }
    }

    /**
     * Moves the content of a log that exceeds this number of bytes to a second file, and replaces the old content of
     * that file.
     */
    static void rotate(Path log, long bytes) throws IOException {
        if (!Files.exists(log) || Files.size(log) <= bytes) {
            return;
        }
        Files.copy(log, log.resolveSibling(log.getFileName() + ".1"), StandardCopyOption.REPLACE_EXISTING);
        try (FileChannel file = FileChannel.open(log, StandardOpenOption.WRITE)) {
            file.truncate(0);
        }
    }

    @Override
    public void close() {
        timer.shutdownNow();
    }
}
