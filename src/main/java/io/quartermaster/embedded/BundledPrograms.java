package io.quartermaster.embedded;

import io.quartermaster.launch.StartFailure;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Locale;
import java.util.Set;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.compressors.xz.XZCompressorInputStream;

/**
 * Programs inside jars, unpacked for execution. They are unpacked under a temporary name, which is renamed when the
 * copy is complete.
 */
final class BundledPrograms {

    private static final Set<PosixFilePermission> RUNNABLE = PosixFilePermissions.fromString("rwxr-xr-x");

    private BundledPrograms() {}

    /** The names that the two jars use for this machine. */
    private record Platform(String postgresArchive, String redisServer) {

        static Platform current() {
            String system = System.getProperty("os.name", "").toLowerCase(Locale.ROOT);
            String machine = System.getProperty("os.arch", "").toLowerCase(Locale.ROOT);
            boolean arm = machine.equals("aarch64") || machine.equals("arm64");
            if (system.startsWith("linux")) {
                return arm
                        ? new Platform("postgres-linux-arm_64.txz", "redis-server-6.2.7-linux-arm64")
                        : new Platform("postgres-linux-x86_64.txz", "redis-server-6.2.6-v5-linux-amd64");
            }
            if (system.startsWith("mac")) {
                return arm
                        ? new Platform("postgres-darwin-arm_64.txz", "redis-server-6.2.6-v5-darwin-arm64")
                        : new Platform("postgres-darwin-x86_64.txz", "redis-server-6.2.6-v5-darwin-amd64");
            }
            throw new StartFailure("This build has no embedded programs for " + system + " (" + machine
                    + "). Use external servers: set QM_DATABASE_URL, QM_REDIS_URL and QM_KEYCLOAK_URL.");
        }
    }

    /** The folder with PostgreSQL's bin, lib and share. */
    static Path postgres(Path bin) {
        String archive = Platform.current().postgresArchive();
        return unpackIfAbsent(bin.resolve("postgres-18.6"), next -> {
            Files.createDirectories(next);
            try (InputStream in = resource(archive, "PostgreSQL");
                    TarArchiveInputStream tar =
                            new TarArchiveInputStream(new XZCompressorInputStream(new BufferedInputStream(in)))) {
                for (TarArchiveEntry entry = tar.getNextEntry(); entry != null; entry = tar.getNextEntry()) {
                    unpack(tar, entry, next);
                }
            }
        });
    }

    static Path redisServer(Path bin) {
        String server = Platform.current().redisServer();
        return unpackIfAbsent(bin.resolve(server), next -> {
            try (InputStream in = resource(server, "Redis")) {
                Files.copy(in, next);
            }
            Files.setPosixFilePermissions(next, RUNNABLE);
        });
    }

    private interface Unpacking {
        void into(Path next) throws IOException;
    }

    private static Path unpackIfAbsent(Path place, Unpacking unpacking) {
        if (Files.exists(place)) {
            return place;
        }
        Path next = place.resolveSibling(place.getFileName() + ".next");
        try {
            DataFolder.deleteTree(next);
            unpacking.into(next);
            Files.move(next, place, StandardCopyOption.ATOMIC_MOVE);
            return place;
        } catch (IOException e) {
            throw new StartFailure(
                    "Cannot unpack " + place.getFileName() + " to " + place.getParent() + ": " + e.getMessage(), e);
        }
    }

    private static void unpack(TarArchiveInputStream tar, TarArchiveEntry entry, Path root) throws IOException {
        Path target = root.resolve(entry.getName()).normalize();
        if (!target.startsWith(root)) {
            throw new IOException("entry outside the archive: " + entry.getName());
        }
        if (entry.isDirectory()) {
            Files.createDirectories(target);
            return;
        }
        Files.createDirectories(target.getParent());
        if (entry.isSymbolicLink()) {
            Files.createSymbolicLink(target, Path.of(entry.getLinkName()));
            return;
        }
        Files.copy(tar, target);
        if ((entry.getMode() & 0100) != 0) {
            Files.setPosixFilePermissions(target, RUNNABLE);
        }
    }

    private static InputStream resource(String name, String program) throws IOException {
        InputStream in = BundledPrograms.class.getResourceAsStream("/" + name);
        if (in == null) {
            throw new StartFailure(
                    "This build contains no " + program + " for this machine (" + name + " is missing).");
        }
        return in;
    }
}
