package io.quartermaster.workloads.logs;

import java.util.ArrayList;
import java.util.List;

/** Cuts the end of an output into the lines that a reader has not received yet. */
final class LogTailCutter {

    /** A line that is longer is sent in parts. */
    static final int MAX_LINE_BYTES = 8 * 1024;

    private static final char REPLACEMENT = '\uFFFD';

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
     * Returns the lines after the offset. Offsets count from the end of the output, so the last one is its length. A
     * replacement character counts as one byte: it stands for a byte that was not UTF-8, or for a NUL. So offsets near
     * several such bytes are approximate.
     *
     * @param tail the stored end of the output
     * @param totalBytes the length of the whole output
     * @param offset the number of bytes that the reader has received
     * @param whole whether the rest without a line break is sent, too
     */
    static Cut after(String tail, long totalBytes, long offset, boolean whole) {
        long storedFrom = Math.max(0, totalBytes - size(tail));
        long from = Math.max(offset, storedFrom);
        if (from >= totalBytes) {
            return new Cut(0, Math.max(offset, totalBytes), List.of(), Math.max(offset, totalBytes));
        }
        // The bytes of the output from the beginning of the present character on.
        long left = size(tail);
        int start = 0;
        while (start < tail.length() && totalBytes - left < from) {
            left -= size(tail, start);
            start += step(tail, start);
        }
        List<Line> lines = new ArrayList<>();
        int begin = start;
        long beginLeft = left;
        for (int i = start; i < tail.length(); i += step(tail, i)) {
            long next = left - size(tail, i);
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

    private static long size(String text) {
        long size = 0;
        for (int i = 0; i < text.length(); i += step(text, i)) {
            size += size(text, i);
        }
        return size;
    }

    /** The number of bytes of the character at this index. */
    private static int size(String text, int index) {
        int character = text.codePointAt(index);
        if (character == REPLACEMENT || character < 0x80) {
            return 1;
        }
        return character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    }

    private static int step(String text, int index) {
        return Character.charCount(text.codePointAt(index));
    }
}
