package io.quartermaster.documents;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A change of one file that a page shows. The header names the file, the counts of each hunk are right, and its lines
 * are in the file once. As with {@code git apply}, they may have moved from the line that the header names.
 */
record UnifiedDiff(Path file, List<Hunk> hunks) {

    private static final String OLD = "--- a/";
    private static final String NEW = "+++ b/";
    private static final Pattern HUNK = Pattern.compile("@@ -(\\d+),(\\d+) \\+(\\d+),(\\d+) @@.*");

    /**
     * @param before its lines in the file as it is
     * @param after its lines in the changed file
     */
    record Hunk(List<String> before, List<String> after) {}

    static UnifiedDiff parse(String text) {
        List<String> lines = text.lines().toList();
        if (lines.size() < 3
                || !lines.get(0).startsWith(OLD)
                || !lines.get(1).equals(NEW + lines.get(0).substring(OLD.length()))) {
            throw new IllegalArgumentException("the first two lines do not name the file");
        }
        List<Hunk> hunks = new ArrayList<>();
        int next = 2;
        while (next < lines.size()) {
            Matcher header = HUNK.matcher(lines.get(next));
            if (!header.matches()) {
                throw new IllegalArgumentException("no hunk begins with: " + lines.get(next));
            }
            List<String> before = new ArrayList<>();
            List<String> after = new ArrayList<>();
            for (next++; next < lines.size() && !lines.get(next).startsWith("@@"); next++) {
                addLine(lines.get(next), before, after);
            }
            if (before.size() != Integer.parseInt(header.group(2))
                    || after.size() != Integer.parseInt(header.group(4))) {
                throw new IllegalArgumentException("a hunk has " + before.size() + " old and " + after.size()
                        + " new lines, and its header says: " + header.group());
            }
            hunks.add(new Hunk(List.copyOf(before), List.copyOf(after)));
        }
        return new UnifiedDiff(Path.of(lines.get(0).substring(OLD.length())), List.copyOf(hunks));
    }

    private static void addLine(String line, List<String> before, List<String> after) {
        char kind = line.isEmpty() ? ' ' : line.charAt(0);
        if (kind != ' ' && kind != '+' && kind != '-') {
            throw new IllegalArgumentException("a line begins with neither a blank, + nor -: " + line);
        }
        String text = line.isEmpty() ? line : line.substring(1);
        if (kind != '+') {
            before.add(text);
        }
        if (kind != '-') {
            after.add(text);
        }
    }

    /** The changed lines of a file. */
    List<String> applyTo(List<String> lines) {
        List<String> changed = new ArrayList<>();
        int next = 0;
        for (Hunk hunk : hunks) {
            int begin = Collections.indexOfSubList(lines, hunk.before());
            if (begin < next || begin != Collections.lastIndexOfSubList(lines, hunk.before())) {
                throw new IllegalArgumentException(
                        file + " has these lines not once, in this order: " + String.join("\n", hunk.before()));
            }
            changed.addAll(lines.subList(next, begin));
            changed.addAll(hunk.after());
            next = begin + hunk.before().size();
        }
        changed.addAll(lines.subList(next, lines.size()));
        return changed;
    }
}
