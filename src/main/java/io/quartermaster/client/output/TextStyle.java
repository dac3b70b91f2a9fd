package io.quartermaster.client.output;

import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;

/** Colours of a terminal, or none. */
public final class TextStyle {

    /** The colours of states: green for work that runs, yellow for work that waits, red for work that failed. */
    private static final Map<String, String> STATES = Map.ofEntries(
            Map.entry("running", "32"),
            Map.entry("succeeded", "32"),
            Map.entry("starting", "36"),
            Map.entry("stopping", "36"),
            Map.entry("waiting", "33"),
            Map.entry("held", "33"),
            Map.entry("paused", "33"),
            Map.entry("failed", "31"),
            Map.entry("cancelled", "2"));

    private static final int FIRST_COLOUR = 31;
    private static final int COLOURS = 6;

    private static final char REPLACEMENT = '\uFFFD';

    private final boolean coloured;

    private TextStyle(boolean coloured) {
        this.coloured = coloured;
    }

    public static TextStyle plain() {
        return new TextStyle(false);
    }

    /** With colours if this is true. */
    public static TextStyle of(boolean coloured) {
        return new TextStyle(coloured);
    }

    /** A state in its colour; any other text unchanged. */
    public String state(String text) {
        String code = STATES.get(text);
        return code == null ? text : in(code, text);
    }

    public String bold(String text) {
        return in("1", text);
    }

    public String faint(String text) {
        return in("2", text);
    }

    /** A text in one of six colours, by a number. */
    public String distinct(int number, String text) {
        return in(Integer.toString(FIRST_COLOUR + Math.floorMod(number, COLOURS)), text);
    }

    /** A line about something that is created. */
    public String added(String text) {
        return in("32", text);
    }

    /** A line about something that is changed. */
    public String changed(String text) {
        return in("33", text);
    }

    private String in(String code, String text) {
        return coloured ? "\u001B[" + code + "m" + text + "\u001B[0m" : text;
    }

    /** Whether a text of this process's environment came in the encoding of its locale. */
    public static boolean isDecoded(String text) {
        return text.indexOf(REPLACEMENT) < 0;
    }

    /** A line of output, without characters that could steer a terminal; colours, tabs and carriage returns stay. */
    public static String harmless(String line) {
        StringBuilder text = new StringBuilder(line.length());
        for (int i = 0; i < line.length(); i++) {
            char c = line.charAt(i);
            if (c == '\u001B') {
                int end = endOfColour(line, i);
                text.append(end > i ? line.substring(i, end) : REPLACEMENT);
                i = Math.max(i, end - 1);
            } else {
                text.append(c != '\t' && c != '\r' && Character.isISOControl(c) ? REPLACEMENT : c);
            }
        }
        return text.toString();
    }

    /** Lines of output, each {@link #harmless}. */
    public static String harmlessLines(String lines) {
        return Arrays.stream(lines.split("\n", -1)).map(TextStyle::harmless).collect(Collectors.joining("\n"));
    }

    /** The index after a colour sequence (ECMA-48 SGR) that begins here; {@code from} if none does. */
    private static int endOfColour(String line, int from) {
        int i = from + 1;
        if (i >= line.length() || line.charAt(i) != '[') {
            return from;
        }
        do {
            i++;
        } while (i < line.length() && (Character.isDigit(line.charAt(i)) || line.charAt(i) == ';'));
        return i < line.length() && line.charAt(i) == 'm' ? i + 1 : from;
    }

    /** The text on one line, without characters that could steer a terminal. */
    public static String printable(String text) {
        return text.codePoints()
                .map(c -> c == '\n' || c == '\t' ? ' ' : Character.isISOControl(c) ? REPLACEMENT : c)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    }
}
