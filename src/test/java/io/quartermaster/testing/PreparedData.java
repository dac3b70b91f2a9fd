package io.quartermaster.testing;

import io.quartermaster.embedded.DataFolder;
import io.quartermaster.embedded.EmbeddedConfig;
import io.quartermaster.embedded.EmbeddedServices;
import io.quartermaster.embedded.Ports;
import io.quartermaster.embedded.ProgressListener;
import io.quartermaster.launch.Component;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/**
 * A data folder in which PostgreSQL already holds Keycloak's schema, and nothing else. Keycloak starts from a copy of
 * it in half the time. {@code -Dqm.test.prepared=FOLDER} names it; the first test that needs it creates it.
 */
public final class PreparedData {

    private static final Set<Component> ALL = EnumSet.copyOf(Component.EXCHANGEABLE);

    private PreparedData() {}

    /** Makes the folder a copy of the prepared one. Without the property this does nothing. */
    public static void copyTo(Path data) {
        Optional<Path> folder = Optional.ofNullable(System.getProperty("qm.test.prepared"))
                .map(name -> Path.of(name).toAbsolutePath());
        if (folder.isEmpty()) {
            return;
        }
        try {
            // Tests with another profile load this class again, so its own monitor would not be the same.
            synchronized (System.getProperties()) {
                prepare(folder.get());
            }
            Files.createDirectories(data);
            // The owners of files matter: PostgreSQL runs as its own user if the tests run as root.
            Process copy = new ProcessBuilder("cp", "-a", folder.get() + "/.", data.toString())
                    .inheritIO()
                    .start();
            if (copy.waitFor() != 0) {
                throw new IllegalStateException("cannot copy " + folder.get() + " to " + data);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static EmbeddedConfig config(Path data, Set<Component> components) {
        return new EmbeddedConfig(
                DataFolder.open(data),
                Path.of("target", "keycloak").toAbsolutePath(),
                components,
                Ports.anyFree(),
                Ports.anyFree(),
                Ports.anyFree(),
                ProgressListener.silent());
    }

    /**
     * Creates the folder unless it exists. A run that is killed meanwhile leaves no folder, and a concurrent run waits.
     */
    private static void prepare(Path prepared) throws IOException {
        Path making = prepared.resolveSibling(prepared.getFileName() + ".making");
        Files.createDirectories(making.getParent());
        try (FileChannel channel = FileChannel.open(
                        prepared.resolveSibling(prepared.getFileName() + ".lock"),
                        StandardOpenOption.CREATE,
                        StandardOpenOption.WRITE);
                FileLock lock = channel.lock()) {
            if (lock.isValid() && !Files.isDirectory(prepared)) {
                TestFolder.empty(new DataFolder(making));
                try (EmbeddedServices services = EmbeddedServices.start(config(making, ALL))) {
                    services.identity().join();
                }
                Files.move(making, prepared);
            }
        }
    }
}
