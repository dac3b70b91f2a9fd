package io.quartermaster.embedded;

import io.quartermaster.launch.Component;
import io.quartermaster.launch.StartFailure;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Redis on loopback with a password and an append-only file. Its content can be rebuilt, so the file is synced once a
 * second.
 */
public final class EmbeddedRedis implements EmbeddedProgram {

    private static final String PASSWORD = "redis";
    private static final Duration START_TIMEOUT = Duration.ofSeconds(30);
    private static final Duration POLL_INTERVAL = Duration.ofMillis(20);
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(10);
    private static final int ANSWER_TIMEOUT_MILLIS = 1_000;

    private final int port;
    private final String password;
    private final ManagedProcess managedProcess;

    private EmbeddedRedis(int port, String password, ManagedProcess managedProcess) {
        this.port = port;
        this.password = password;
        this.managedProcess = managedProcess;
    }

    static EmbeddedRedis start(DataFolder folder, Secrets secrets, int port) {
        Path server = BundledPrograms.redisServer(folder.resolve("bin"));
        Path root = folder.resolve("redis");
        Path log = folder.log("redis");
        String password = secrets.password(PASSWORD);
        String settings = settings(root, port, password);
        Path settingsFile = root.resolve("redis.conf");
        ManagedProcess.Spec spec = new ManagedProcess.Spec(
                Component.REDIS.title(),
                List.of(server.toString(), settingsFile.toString()),
                Map.of(),
                root,
                log,
                folder.pidFile(Component.REDIS.program()),
                settings);
        Optional<ManagedProcess> running = ManagedProcess.adopt(spec);
        ManagedProcess managedProcess;
        if (running.isPresent()) {
            managedProcess = running.get();
        } else {
            endLeftover(folder);
            Ports.requireFree(port, Component.REDIS.title(), Component.REDIS.portSettings());
            try {
                DataFolder.createPrivate(root);
                Files.writeString(settingsFile, settings);
            } catch (IOException e) {
                throw new StartFailure("Cannot write " + settingsFile + ": " + e.getMessage(), e);
            }
            managedProcess = ManagedProcess.start(spec);
        }
        EmbeddedRedis redis = new EmbeddedRedis(port, password, managedProcess);
        try {
            redis.awaitReady(log);
            return redis;
        } catch (RuntimeException e) {
            redis.close();
            throw e;
        }
    }

    /** The address with the password, in the form of the Redis client. */
    static String url(Secrets secrets, int port) {
        return "redis://:" + secrets.password(PASSWORD) + "@127.0.0.1:" + port;
    }

    /** Ends the Redis that a killed service left running in that folder. */
    static void endLeftover(DataFolder folder) {
        ManagedProcess.endRecorded(
                Component.REDIS.title(), folder.pidFile(Component.REDIS.program()), StopSignal.TERMINATE, STOP_TIMEOUT);
    }

    @Override
    public ManagedProcess process() {
        return managedProcess;
    }

    @Override
    public void close() {
        managedProcess.stop(StopSignal.TERMINATE, STOP_TIMEOUT);
    }

    /** The settings are in a file, because every user of the machine could read a password in the command. */
    private static String settings(Path root, int port, String password) {
        return """
                bind 127.0.0.1
                port %d
                requirepass %s
                dir "%s"
                appendonly yes
                appendfsync everysec
                save ""
                maxmemory 256mb
                maxmemory-policy noeviction
                daemonize no
                """.formatted(port, password, root);
    }

    private void awaitReady(Path log) {
        long end = System.nanoTime() + START_TIMEOUT.toNanos();
        try {
            do {
                if (answers()) {
                    return;
                }
            } while (System.nanoTime() < end && !managedProcess.endsWithin(POLL_INTERVAL));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        throw new StartFailure("Redis " + (managedProcess.isAlive() ? "does not answer" : "ended while starting")
                + "; see " + log + ".");
    }

    /** False also while Redis still loads its file. */
    private boolean answers() {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), ANSWER_TIMEOUT_MILLIS);
            socket.setSoTimeout(ANSWER_TIMEOUT_MILLIS);
            socket.getOutputStream().write(("AUTH " + password + "\r\nPING\r\n").getBytes(StandardCharsets.US_ASCII));
            socket.getOutputStream().flush();
            String expected = "+OK\r\n+PONG\r\n";
            InputStream in = socket.getInputStream();
            return new String(in.readNBytes(expected.length()), StandardCharsets.US_ASCII).equals(expected);
        } catch (IOException notYet) {
            return false;
        }
    }
}
