package io.quartermaster.embedded;

import io.quartermaster.launch.Component;
import io.quartermaster.launch.StartFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * PostgreSQL 18 on loopback, with every acknowledged write on disk. Passwords are checked (SCRAM) also on loopback,
 * because other users of the machine are not trusted.
 */
public final class EmbeddedPostgres implements EmbeddedProgram {

    private static final String SUPERUSER = "postgres";

    /** Recovery after a crash replays the log first, which can take some time on a slow disk. */
    private static final Duration START_TIMEOUT = Duration.ofMinutes(2);

    private static final Duration POLL_INTERVAL = Duration.ofMillis(25);

    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(30);
    private static final Duration INIT_TIMEOUT = Duration.ofMinutes(2);

    private final int port;
    private final Secrets secrets;
    private final ManagedProcess managedProcess;

    private EmbeddedPostgres(int port, Secrets secrets, ManagedProcess managedProcess) {
        this.port = port;
        this.secrets = secrets;
        this.managedProcess = managedProcess;
    }

    static EmbeddedPostgres start(DataFolder folder, Secrets secrets, int port) {
        Path home = BundledPrograms.postgres(folder.resolve("bin"));
        Path root = folder.resolve("postgres");
        Unprivileged unprivileged = Unprivileged.choose();
        ManagedProcess.Spec spec = spec(folder, home, root, unprivileged, port);
        Optional<ManagedProcess> running = ManagedProcess.adopt(spec);
        ManagedProcess managedProcess;
        if (running.isPresent()) {
            managedProcess = running.get();
        } else {
            endLeftover(folder);
            Ports.requireFree(port, Component.POSTGRES.title(), Component.POSTGRES.portSettings());
            initialise(home, root, unprivileged, secrets, folder.log("postgres"));
            managedProcess = ManagedProcess.start(spec);
        }
        EmbeddedPostgres postgres = new EmbeddedPostgres(port, secrets, managedProcess);
        try {
            postgres.awaitReady(folder.log("postgres"));
            new DatabaseRoles(secrets).create(postgres);
            return postgres;
        } catch (RuntimeException e) {
            postgres.close();
            throw e;
        }
    }

    /** A connection of the superuser, only to create roles and databases. */
    Connection connect(String database) throws SQLException {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setServerNames(new String[] {"127.0.0.1"});
        source.setPortNumbers(new int[] {port});
        source.setDatabaseName(database);
        source.setUser(SUPERUSER);
        source.setPassword(secrets.password("postgres.superuser"));
        source.setConnectTimeout(5);
        return source.getConnection();
    }

    /** Ends the PostgreSQL that a killed service left running in that folder. */
    static void endLeftover(DataFolder folder) {
        ManagedProcess.endRecorded(
                Component.POSTGRES.title(),
                folder.pidFile(Component.POSTGRES.program()),
                StopSignal.INTERRUPT,
                STOP_TIMEOUT);
    }

    @Override
    public ManagedProcess process() {
        return managedProcess;
    }

    @Override
    public void close() {
        managedProcess.stop(StopSignal.INTERRUPT, STOP_TIMEOUT);
    }

    private static ManagedProcess.Spec spec(
            DataFolder folder, Path home, Path root, Unprivileged unprivileged, int port) {
        List<String> command = new ArrayList<>(unprivileged.prefix());
        command.addAll(List.of(
                home.resolve("bin/postgres").toString(),
                "-D",
                root.resolve("data").toString()));
        // 16 + 8 connections of the service, Keycloak's 20, migrations, and some for manual inspection.
        for (String setting : List.of(
                "port=" + port,
                "listen_addresses=127.0.0.1",
                "unix_socket_directories=",
                "max_connections=80",
                "shared_buffers=128MB",
                // Tables start empty here: query plans made for empty tables must not live long, and random reads are
                // cheap.
                "autovacuum_naptime=10s",
                "random_page_cost=1.1",
                "fsync=on",
                "full_page_writes=on",
                "synchronous_commit=on",
                "password_encryption=scram-sha-256",
                "timezone=UTC",
                "log_timezone=UTC",
                "log_line_prefix=%m [%p] %u@%d ")) {
            command.addAll(List.of("-c", setting));
        }
        return new ManagedProcess.Spec(
                Component.POSTGRES.title(),
                command,
                Map.of("LC_ALL", "C"),
                root,
                folder.log("postgres"),
                folder.pidFile(Component.POSTGRES.program()),
                "1");
    }

    /**
     * Creates the data folder under a temporary name and renames it when it is complete, so that a crash leaves no
     * partial folder.
     */
    private static void initialise(Path home, Path root, Unprivileged unprivileged, Secrets secrets, Path log) {
        Path data = root.resolve("data");
        Path next = root.resolve("data.next");
        Path passwordFile = root.resolve("password");
        try {
            DataFolder.createPrivate(root);
            if (Files.isDirectory(data)) {
                return;
            }
            DataFolder.deleteTree(next);
            Files.writeString(passwordFile, secrets.password("postgres.superuser") + "\n");
            unprivileged.grantAccess(root);
            List<String> command = new ArrayList<>(unprivileged.prefix());
            command.addAll(List.of(
                    home.resolve("bin/initdb").toString(),
                    "--pgdata=" + next,
                    "--username=" + SUPERUSER,
                    "--pwfile=" + passwordFile,
                    "--auth=scram-sha-256",
                    "--encoding=UTF8",
                    // The same order of texts on every system, regardless of its locales.
                    "--locale-provider=builtin",
                    "--builtin-locale=C.UTF-8",
                    "--locale=C"));
            run(command, root, log);
            Files.move(next, data, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new StartFailure("Cannot create the database in " + root + ": " + e.getMessage(), e);
        } finally {
            try {
                Files.deleteIfExists(passwordFile);
            } catch (IOException ignored) {
                // The file lies in a private folder, beside another copy of the same password.
            }
        }
    }

    private static void run(List<String> command, Path folder, Path log) throws IOException {
        Process process = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start();
        try {
            if (!process.waitFor(INIT_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS) || process.exitValue() != 0) {
                process.destroyForcibly();
                throw new StartFailure("PostgreSQL could not create its data folder; see " + log + ".");
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
            throw new StartFailure("Interrupted while PostgreSQL created its data folder.", e);
        }
    }

    private void awaitReady(Path log) {
        long end = System.nanoTime() + START_TIMEOUT.toNanos();
        SQLException last = null;
        try {
            do {
                try (Connection connection = connect("postgres")) {
                    if (connection.isValid(5)) {
                        return;
                    }
                } catch (SQLException notYet) {
                    last = notYet;
                }
            } while (System.nanoTime() < end && !managedProcess.endsWithin(POLL_INTERVAL));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StartFailure("Interrupted while PostgreSQL started.", e);
        }
        String why = managedProcess.isAlive() ? "does not answer" : "ended while starting";
        throw new StartFailure(
                "PostgreSQL " + why + (last == null ? "" : " (" + last.getMessage() + ")") + "; see " + log + ".",
                last);
    }
}
