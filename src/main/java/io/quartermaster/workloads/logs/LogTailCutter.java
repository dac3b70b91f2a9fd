package io.quartermaster.workloads.logs;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Cuts the end of an output into the lines that a reader has not received yet. */
final class LogTailCutter {

    /** A line that is longer is sent in parts. */
    static final int MAX_LINE_BYTES = 8 * 1024;

    /** The most bytes of an output that an agent reports. */
    private static final int MAX_TAIL_BYTES = 16 * 1024;

    private static final char REPLACEMENT = '\uFFFD';
    private static final int REPLACEMENT_BYTES = 3;

    private LogTailCutter() {}

    /**
     * A line, or a part of one.
     *
     * @param endOffset the number of bytes of the output up to and including it
     */
    record Line(String text, boolean partial, long endOffset) {}

    /**
     * The new part of an output.
     *
     * @param lostBytes the number of bytes after the reader's position that are no longer stored
     * @param fromOffset where the lines begin
     * @param endOffset where the next lines begin; not beyond the end of the output
     */
    record Cut(long lostBytes, long fromOffset, List<Line> lines, long endOffset) {}

    /**
     * Returns the lines after the offset. Offsets count from the end of the output, so the last one is its length.
     *
     * <p>A replacement character has the three bytes that the work wrote. An agent of an earlier version put it for
     * each run of bytes that are not UTF-8, too. A tail of more bytes than an agent reads comes from such an agent.
     * There, it counts as one byte, so offsets near it are approximate.
     *
     * @param tail the stored end of the output
     * @param totalBytes the length of the whole output
     * @param offset the number of bytes that the reader has received
     * @param whole whether the rest without a line break is sent, too
     */
    static Cut after(String tail, long totalBytes, long offset, boolean whole) {
        int replacement = tail.getBytes(StandardCharsets.UTF_8).length <= Math.min(totalBytes, MAX_TAIL_BYTES)
                ? REPLACEMENT_BYTES
                : 1;
        long storedFrom = Math.max(0, totalBytes - size(tail, replacement));
        long from = Math.max(offset, storedFrom);
        if (from >= totalBytes) {
            return new Cut(0, Math.max(offset, totalBytes), List.of(), Math.max(offset, totalBytes));
        }
        // The bytes of the output from the beginning of the present character on.
        long left = size(tail, replacement);
        int start = 0;
        while (start < tail.length() && totalBytes - left < from) {
            left -= sizeAt(tail, start, replacement);
            start += step(tail, start);
        }
        List<Line> lines = new ArrayList<>();
        int begin = start;
        long beginLeft = left;
        for (int i = start; i < tail.length(); i += step(tail, i)) {
            long next = left - sizeAt(tail, i, replacement);
            if (tail.charAt(i) == '\n') {
                lines.add(line(tail, begin, i, false, totalBytes - next));
                begin = i + 1;
                beginLeft = next;
            } else if (beginLeft - next >= MAX_LINE_BYTES) {
                lines.add(line(tail, begin, i + step(tail, i), true, totalBytes - next));
                begin = i + step(tail, i);
                beginLeft = next;
            }
            left = next;
        }
        if (whole && begin < tail.length()) {
            lines.add(line(tail, begin, tail.length(), true, totalBytes));
            beginLeft = 0;
        }
        return new Cut(from - offset, from, lines, Math.max(from, totalBytes - beginLeft));
    }

    /** Whether the tail may end inside a character, whose other bytes come with the next report. */
    static boolean endsInsideCharacter(String tail) {
        return !tail.isEmpty() && tail.charAt(tail.length() - 1) == REPLACEMENT;
    }

    private static Line line(String tail, int from, int to, boolean partial, long endOffset) {
        int end = !partial && to > from && tail.charAt(to - 1) == '\r' ? to - 1 : to;
        return new Line(tail.substring(from, end), partial, endOffset);
    }

    private static long size(String text, int replacement) {
        long size = 0;
        for (int i = 0; i < text.length(); i += step(text, i)) {
            size += sizeAt(text, i, replacement);
        }
        return size;
    }

    /** The number of bytes of the character at this index. */
    private static int sizeAt(String text, int index, int replacement) {
        int character = text.codePointAt(index);
        if (character == REPLACEMENT) {
            return replacement;
        }
        if (character < 0x80) {
            return 1;
        }
        return character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    }

    private static int step(String text, int index) {
        return Character.charCount(text.codePointAt(index));
    }
}
