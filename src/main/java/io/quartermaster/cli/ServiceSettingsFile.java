package io.quartermaster.cli;

import io.quartermaster.embedded.DataFolder;
import io.quartermaster.launch.StartFailure;
import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Properties;
import java.util.SortedMap;

/**
 * The file in the data folder with the settings of a service that another process runs. It has passwords, so only its
 * owner can read it.
 */
final class ServiceSettingsFile {

    private final Path file;

    ServiceSettingsFile(DataFolder folder) {
        this.file = folder.resolve("service.properties");
    }

    /** Replaces the file in one step, so that a reader sees all settings or none. */
    void write(SortedMap<String, String> settings) throws IOException {
        Properties properties = new Properties();
        properties.putAll(settings);
        Path temporary = file.resolveSibling(file.getFileName() + ".next");
        Files.deleteIfExists(temporary);
        Files.createFile(temporary, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        try (Writer writer = Files.newBufferedWriter(temporary)) {
            properties.store(writer, null);
        }
        Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
    }

    void remove() throws IOException {
        Files.deleteIfExists(file);
    }

    /** Sets the settings as properties of this process. Throws {@link StartFailure} when there is no such file. */
    void apply() {
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(file)) {
            properties.load(reader);
        } catch (IOException e) {
            throw new StartFailure(
                    "Cannot read " + file + ". Start the servers first: qm up --only servers, on this data folder.", e);
        }
        properties.stringPropertyNames().forEach(name -> System.setProperty(name, properties.getProperty(name)));
    }
}
