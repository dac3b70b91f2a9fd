package io.quartermaster.cli;

import io.quartermaster.embedded.DataFolder;
import io.quartermaster.embedded.ProcessMark;
import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;
import java.util.Properties;

/**
 * The facts of a running service in its data folder, for the other commands. The file remains when the service is
 * killed, so it is valid only while its process lives.
 */
record RunFile(
        ProcessMark process,
        String url,
        String managementUrl,
        String keycloakUrl,
        String postgres,
        String redis,
        boolean ready) {

    private static final String NAME = "run.properties";

    /** The service that runs on the folder now. */
    static Optional<RunFile> ofRunning(DataFolder folder) {
        return read(folder).filter(run -> run.process().find().isPresent());
    }

    void write(DataFolder folder) throws IOException {
        Properties values = new Properties();
        values.setProperty("process", process.toString());
        values.setProperty("url", url);
        values.setProperty("management-url", managementUrl);
        values.setProperty("keycloak-url", keycloakUrl);
        values.setProperty("postgres", postgres);
        values.setProperty("redis", redis);
        values.setProperty("ready", Boolean.toString(ready));
        Path next = folder.resolve(NAME + ".next");
        try (Writer writer = Files.newBufferedWriter(next)) {
            values.store(writer, null);
        }
        Files.move(next, folder.resolve(NAME), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    static void remove(DataFolder folder) throws IOException {
        Files.deleteIfExists(folder.resolve(NAME));
    }

    RunFile asReady() {
        return new RunFile(process, url, managementUrl, keycloakUrl, postgres, redis, true);
    }

    private static Optional<RunFile> read(DataFolder folder) {
        Properties values = new Properties();
        try (Reader reader = Files.newBufferedReader(folder.resolve(NAME))) {
            values.load(reader);
        } catch (NoSuchFileException none) {
            return Optional.empty();
        } catch (IOException | IllegalArgumentException unreadable) {
            return Optional.empty();
        }
        return ProcessMark.parse(values.getProperty("process", ""))
                .map(process -> new RunFile(
                        process,
                        values.getProperty("url", ""),
                        // An older version that is still running may serve its health beside its API.
                        values.getProperty("management-url", values.getProperty("url", "")),
                        values.getProperty("keycloak-url", ""),
                        values.getProperty("postgres", ""),
                        values.getProperty("redis", ""),
                        Boolean.parseBoolean(values.getProperty("ready"))));
    }
}
