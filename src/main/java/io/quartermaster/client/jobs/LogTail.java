package io.quartermaster.client.jobs;

/**
 * The output of one attempt as far as it is printed. The service returns the end of the output, so each answer overlaps
 * with the one before.
 */
final class LogTail {

    /** A beginning of an answer that is long enough to find its place in the answer before. */
    private static final int PROBE = 64;

    private String last = "";
    private boolean closed;

    /**
     * What an answer adds.
     *
     * @param hasGap whether output between the two answers is missing
     */
    record Growth(String text, boolean hasGap) {}

    /** The part of an answer that the answers before did not have. */
    Growth advanceTo(String now) {
        String before = last;
        last = now;
        if (now.startsWith(before)) {
            return new Growth(now.substring(before.length()), false);
        }
        int from = 0;
        while (true) {
            int at = before.indexOf(now.substring(0, Math.min(PROBE, now.length())), from);
            if (at < 0) {
                return new Growth(now.substring(shortOverlap(before, now)), shortOverlap(before, now) == 0);
            }
            String overlap = before.substring(at);
            if (now.startsWith(overlap)) {
                return new Growth(now.substring(overlap.length()), false);
            }
            if (overlap.startsWith(now)) {
                return new Growth("", false);
            }
            from = at + 1;
        }
    }

    /** The length of an overlap that is shorter than the probe. */
    private static int shortOverlap(String before, String now) {
        for (int length = Math.min(PROBE, Math.min(before.length(), now.length())); length > 0; length--) {
            if (before.endsWith(now.substring(0, length))) {
                return length;
            }
        }
        return 0;
    }

    boolean isClosed() {
        return closed;
    }

    /** States that the attempt writes no more. */
    void close() {
        closed = true;
    }
}
