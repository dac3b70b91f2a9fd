package io.quartermaster.workloads.logs;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Cuts the end of an output into the lines that a reader has not received yet. */
final class LogTailCutter {

    /** A line that is longer is sent in parts. */
    static final int MAX_LINE_BYTES = 8 * 1024;

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
     */
    record Cut(long lostBytes, long fromOffset, List<Line> lines) {}

    /**
     * Returns the lines after the offset.
     *
     * @param tail the stored end of the output
     * @param totalBytes the length of the whole output. Bytes that were not UTF-8 count as they were written, and are
     *     replaced in the tail, so offsets inside such a tail are approximate
     * @param offset the number of bytes that the reader has received
     * @param whole whether the rest without a line break is sent, too
     */
    static Cut after(String tail, long totalBytes, long offset, boolean whole) {
        byte[] bytes = tail.getBytes(StandardCharsets.UTF_8);
        long storedFrom = Math.max(0, totalBytes - bytes.length);
        long from = Math.max(offset, storedFrom);
        if (from >= totalBytes) {
            return new Cut(0, Math.max(offset, totalBytes), List.of());
        }
        int start = (int) Math.min(bytes.length, from - storedFrom);
        while (start < bytes.length && isContinuation(bytes[start])) {
            start++;
        }
        List<Line> lines = new ArrayList<>();
        int begin = start;
        for (int i = start; i < bytes.length; i++) {
            if (bytes[i] == '\n') {
                lines.add(line(bytes, begin, i, false, storedFrom + i + 1));
                begin = i + 1;
            } else if (i + 1 - begin >= MAX_LINE_BYTES && (i + 1 == bytes.length || !isContinuation(bytes[i + 1]))) {
                lines.add(line(bytes, begin, i + 1, true, storedFrom + i + 1));
                begin = i + 1;
            }
        }
        if (whole && begin < bytes.length) {
            lines.add(line(bytes, begin, bytes.length, true, totalBytes));
        }
        return new Cut(from - offset, from, lines);
    }

    private static Line line(byte[] bytes, int from, int to, boolean partial, long endOffset) {
        int end = !partial && to > from && bytes[to - 1] == '\r' ? to - 1 : to;
        return new Line(new String(bytes, from, end - from, StandardCharsets.UTF_8), partial, endOffset);
    }

    private static boolean isContinuation(byte value) {
        return (value & 0xC0) == 0x80;
    }
}
