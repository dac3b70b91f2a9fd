package io.quartermaster.agent.supervisor;

import java.io.Closeable;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The bounded output of an attempt: it keeps at most as many bytes as its limit, and at least the last half as many.
 *
 * <p>It is written to files named {@code output-<offset>}, where the offset is that of the file's first byte in the
 * whole output. So the last file alone gives the total. When a file has half the limit, a new one begins and all except
 * the last two are deleted. Threads: {@link #append} may be called by several.
 */
public final class AttemptOutput implements Closeable {
    private static final String PREFIX = "output-";
    private static final int MAX_CHARACTER_BYTES = 4;

    private final Path folder;
    private final long fileBytes;
    private final Deque<Path> files = new ArrayDeque<>();
    private @Nullable OutputStream current;
    private long currentBytes;
    private long totalBytes;

    AttemptOutput(Path folder, long limitBytes) {
        this.folder = folder;
        this.fileBytes = Math.max(1, limitBytes / 2);
    }

    synchronized void append(byte[] bytes, int length) throws IOException {
        int from = 0;
        while (from < length) {
            OutputStream file = current == null || currentBytes == fileBytes ? openNextFile() : current;
            int part = (int) Math.min(length - from, fileBytes - currentBytes);
            file.write(bytes, from, part);
            from += part;
            currentBytes += part;
            totalBytes += part;
        }
    }

    /** Adds a line of the supervisor to the lines of the work. */
    void appendNote(String line) throws IOException {
        byte[] bytes = ("[quartermaster] " + line + "\n").getBytes(StandardCharsets.UTF_8);
        append(bytes, bytes.length);
    }

    private OutputStream openNextFile() throws IOException {
        close();
        Path file = folder.resolve("%s%019d".formatted(PREFIX, totalBytes));
        OutputStream next =
                Files.newOutputStream(file, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING);
        current = next;
        currentBytes = 0;
        files.addLast(file);
        if (files.size() > 2) {
            Files.deleteIfExists(files.removeFirst());
        }
        return next;
    }

    @Override
    public synchronized void close() throws IOException {
        if (current != null) {
            current.close();
        }
    }

    /**
     * The end of the output so far.
     *
     * @param totalBytes the length of the whole output up to the end of the text
     */
    public record Tail(String text, long totalBytes) {}

    /**
     * The total length of the output in {@code folder}, and at most its last {@code maxBytes}. A character at the end
     * that is not complete is left out.
     */
    public static Tail tail(Path folder, int maxBytes) throws IOException {
        List<Path> files = files(folder);
        long end = 0;
        byte[] tail = {};
        for (Path file : files.subList(Math.max(0, files.size() - 2), files.size())) {
            try (RandomAccessFile reader = new RandomAccessFile(file.toFile(), "r")) {
                long length = reader.length();
                end = offset(file) + length;
                int part = (int) Math.min(length, maxBytes);
                byte[] bytes = new byte[part];
                reader.seek(length - part);
                reader.readFully(bytes);
                tail = last(tail, bytes, maxBytes);
            } catch (FileNotFoundException e) {
                // The writer has just begun its next file and deleted this one; the later files have the rest.
            }
        }
        // Its other bytes come with the next tail.
        int begun = begunCharacter(tail);
        return new Tail(decode(tail, tail.length - begun, end > tail.length), end - begun);
    }

    /** The number of bytes at the end that begin a character of UTF-8 and do not complete it. */
    private static int begunCharacter(byte[] bytes) {
        for (int count = 1; count <= Math.min(MAX_CHARACTER_BYTES - 1, bytes.length); count++) {
            int first = bytes[bytes.length - count] & 0xFF;
            if (first >= 0xC0) {
                int size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
                return count < size ? count : 0;
            }
            if (first < 0x80) {
                return 0;
            }
        }
        return 0;
    }

    /**
     * The length that {@link #tail} states for the output so far: without a character at its end that is not complete.
     * Cheap enough for every round of a loop.
     */
    public static long totalBytes(Path folder) throws IOException {
        return tail(folder, MAX_CHARACTER_BYTES).totalBytes();
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.filter(entry -> entry.getFileName().toString().startsWith(PREFIX))
                    .sorted()
                    .toList();
        }
    }

    private static long offset(Path file) {
        return Long.parseLong(file.getFileName().toString().substring(PREFIX.length()));
    }

    private static byte[] last(byte[] head, byte[] end, int maxBytes) {
        int keep = Math.min(head.length, maxBytes - end.length);
        byte[] joined = new byte[keep + end.length];
        System.arraycopy(head, head.length - keep, joined, 0, keep);
        System.arraycopy(end, 0, joined, keep, end.length);
        return joined;
    }

    /**
     * Decodes a tail. It may begin inside a character, whose continuation bytes (10xxxxxx) are left out. Each byte that
     * is not UTF-8, and each NUL, becomes a question mark, so that the text has as many bytes as the output.
     */
    private static String decode(byte[] bytes, int to, boolean cut) {
        int from = 0;
        while (cut && from < Math.min(MAX_CHARACTER_BYTES - 1, to) && (bytes[from] & 0xC0) == 0x80) {
            from++;
        }
        CharsetDecoder decoder = StandardCharsets.UTF_8
                .newDecoder()
                .onMalformedInput(CodingErrorAction.REPORT)
                .onUnmappableCharacter(CodingErrorAction.REPORT);
        ByteBuffer rest = ByteBuffer.wrap(bytes, from, to - from);
        CharBuffer text = CharBuffer.allocate(to - from);
        CoderResult result = decoder.decode(rest, text, true);
        while (result.isError()) {
            for (int i = 0; i < result.length(); i++) {
                text.put('?');
            }
            rest.position(rest.position() + result.length());
            result = decoder.decode(rest, text, true);
        }
        return text.flip().toString().replace('\0', '?');
    }
}
