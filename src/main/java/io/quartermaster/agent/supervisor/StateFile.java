package io.quartermaster.agent.supervisor;

import java.io.IOException;
import java.io.Reader;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Function;

/**
 * A small file of named values, in the format of {@link Properties}: by such files, the agent and a supervisor
 * communicate. A write replaces the whole file, so a reader sees the old or the new file and never a part. JSON would
 * need a library in every supervisor.
 */
public final class StateFile {
    private final Properties values = new Properties();

    /** The file's values; empty when there is no such file. */
    public static Optional<StateFile> read(Path file) throws IOException {
        StateFile stateFile = new StateFile();
        try (Reader reader = Files.newBufferedReader(file)) {
            stateFile.values.load(reader);
            return Optional.of(stateFile);
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (IllegalArgumentException e) {
            throw new IOException("malformed " + file, e);
        }
    }

    public StateFile with(String name, Object value) {
        values.setProperty(name, value.toString());
        return this;
    }

    StateFile with(String name, List<String> items) {
        for (int i = 0; i < items.size(); i++) {
            with(name + "." + i, items.get(i));
        }
        return this;
    }

    StateFile with(String name, Map<String, String> entries) {
        entries.forEach((key, value) -> with(name + "." + key, value));
        return this;
    }

    Optional<String> optional(String name) {
        return Optional.ofNullable(values.getProperty(name));
    }

    public String text(String name) throws IOException {
        return optional(name).orElseThrow(() -> new IOException("no value '%s'".formatted(name)));
    }

    public long number(String name) throws IOException {
        return parsed(name, text(name), Long::parseLong);
    }

    Optional<Long> optionalNumber(String name) throws IOException {
        return parsed(name, optional(name), Long::valueOf);
    }

    Optional<Integer> optionalInteger(String name) throws IOException {
        return parsed(name, optional(name), Integer::valueOf);
    }

    UUID id(String name) throws IOException {
        return parsed(name, text(name), UUID::fromString);
    }

    <E extends Enum<E>> E constant(Class<E> type, String name) throws IOException {
        return parsed(name, text(name), text -> Enum.valueOf(type, text));
    }

    List<UUID> ids(String name) throws IOException {
        return parsed(name, list(name), UUID::fromString);
    }

    List<Integer> integers(String name) throws IOException {
        return parsed(name, list(name), Integer::valueOf);
    }

    private static <T> Optional<T> parsed(String name, Optional<String> text, Function<String, T> parser)
            throws IOException {
        return text.isEmpty() ? Optional.empty() : Optional.of(parsed(name, text.get(), parser));
    }

    private static <T> List<T> parsed(String name, List<String> texts, Function<String, T> parser) throws IOException {
        List<T> values = new ArrayList<>();
        for (String text : texts) {
            values.add(parsed(name, text, parser));
        }
        return List.copyOf(values);
    }

    /** Parses a value. A damaged value must not look like a fault of the program: its reader continues without it. */
    private static <T> T parsed(String name, String text, Function<String, T> parser) throws IOException {
        try {
            return parser.apply(text);
        } catch (IllegalArgumentException e) {
            throw new IOException("value '%s' cannot be read: %s".formatted(name, text), e);
        }
    }

    List<String> list(String name) {
        List<String> items = new ArrayList<>();
        for (String item = values.getProperty(name + ".0");
                item != null;
                item = values.getProperty(name + "." + items.size())) {
            items.add(item);
        }
        return List.copyOf(items);
    }

    Map<String, String> map(String name) {
        Map<String, String> entries = new TreeMap<>();
        String prefix = name + ".";
        for (String key : values.stringPropertyNames()) {
            if (key.startsWith(prefix)) {
                entries.put(key.substring(prefix.length()), values.getProperty(key));
            }
        }
        return entries;
    }

    /** Replaces the file, and returns only when a crash of the machine cannot undo it. */
    public void writeDurably(Path file) throws IOException {
        write(file, true);
        syncFolder(file);
    }

    /** Replaces the file; a crash of the machine may undo it. For values that are meaningless after a boot. */
    void writeForThisBoot(Path file) throws IOException {
        write(file, false);
    }

    private void write(Path file, boolean force) throws IOException {
        StringWriter text = new StringWriter();
        values.store(text, null);
        // Agent and supervisor may both write a file, each through its own temporary file.
        Path temporary = file.resolveSibling(
                ".%s.%d".formatted(file.getFileName(), ProcessHandle.current().pid()));
        try (FileChannel channel = FileChannel.open(
                temporary, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)) {
            ByteBuffer bytes = StandardCharsets.UTF_8.encode(text.toString());
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            if (force) {
                channel.force(true);
            }
        }
        Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
    }

    /** Makes the entry of {@code file} in its folder survive a crash of the machine. */
    public static void syncFolder(Path file) throws IOException {
        Path folder = file.toAbsolutePath().getParent();
        if (folder != null) {
            try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
                channel.force(true);
            }
        }
    }
}
