package io.quartermaster.agent.protocol;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Version, paths and limits of the protocol, and the checks that several of its records share. */
public final class Protocol {
    /** The value of {@code formatVersion} in both directions. */
    public static final int FORMAT_VERSION = 1;

    /** The code of the answer 409 to a digest that names no inventory which the service has stored for the node. */
    public static final String INVENTORY_UNKNOWN = "inventory-unknown";

    /** The longest time for which an agent may ask the service to hold a call open. */
    public static final long MAX_WAIT_MILLIS = 60_000;

    /** The greatest age of an event: ten years. */
    public static final long MAX_AGE_MILLIS = 10L * 366 * 24 * 3_600_000;

    /** A tail of output is at most this many characters, made from at most as many bytes. */
    public static final int MAX_LOG_TAIL_BYTES = 16 * 1024;

    /** Attempts in one message. A node of 16 GPUs in shares of a tenth has 160. */
    public static final int MAX_ATTEMPTS = 1_000;

    /** Devices of one node, or of one attempt on it. */
    public static final int MAX_DEVICES = 256;

    /** Limit of a node's processors, in thousandths, and of its memory, in MiB: far beyond any machine. */
    public static final int MAX_CPU_MILLI = 100_000_000;

    public static final long MAX_MEMORY_MIB = 1L << 32;

    /** Characters of a version, of the id of a boot or a device, or of a model. */
    public static final int MAX_WORD = 128;

    /** Bytes of the explanation of an attempt's end, in UTF-8. */
    public static final int MAX_DETAIL_BYTES = 4 * 1024;

    /** The latest time by the clock of a node, in milliseconds since 1970: the end of the year 9999. */
    public static final long MAX_EPOCH_MILLIS = 253_402_300_799_999L;

    /** Arguments of a command. */
    public static final int MAX_ARGUMENTS = 1_000;

    /** The end of a truncated text. */
    private static final String CUT = " ... (cut)";

    private static final int MAX_REPEATED = 100;

    /** Names of folders: no separator, no leading dot or dash, no character with a meaning for a shell. */
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,127}");

    private static final Pattern VARIABLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,127}");

    private Protocol() {}

    /** The path of the sync call, below the service's base address. */
    public static String syncPath(String node) {
        return "/v1/nodes/" + name("node", node) + "/sync";
    }

    /** The path at which the service issues sessions to the node. */
    public static String sessionsPath(String node) {
        return "/v1/nodes/" + name("node", node) + "/sessions";
    }

    /** Returns {@code value}, or throws {@link IllegalArgumentException} if it cannot be a folder's name. */
    public static String name(String field, String value) {
        check(NAME.matcher(value).matches(), "%s must match %s, was '%s'", field, NAME, value);
        return value;
    }

    /** Throws {@link InvalidFieldException} unless the condition holds. */
    static void require(boolean holds, String field, @Nullable Object given, String accepted) {
        if (!holds) {
            String text = String.valueOf(given);
            throw new InvalidFieldException(
                    field, text.length() <= MAX_REPEATED ? text : text.substring(0, MAX_REPEATED) + "...", accepted);
        }
    }

    /** Requires a field, since readers of JSON set a missing one to null. */
    static void requirePresent(String field, @Nullable Object given, String accepted) {
        require(given != null, field, given, accepted);
    }

    /** Requires a list without null elements that is not too long. */
    static void requireList(String field, @Nullable List<?> given, int max) {
        requirePresent(field, given, "a list");
        if (given != null) {
            require(given.size() <= max, field, given.size() + " entries", "a list of at most " + max + " entries");
            for (int i = 0; i < given.size(); i++) {
                requirePresent("%s[%d]".formatted(field, i), given.get(i), "an object");
            }
        }
    }

    /** Requires a text of 1 to {@link #MAX_WORD} characters, not all of them blank and none a control character. */
    static void requireLine(String field, @Nullable String given) {
        require(
                given != null
                        && !given.isBlank()
                        && given.length() <= MAX_WORD
                        && given.chars().noneMatch(Character::isISOControl),
                field,
                given,
                "a text of 1 to " + MAX_WORD + " characters, none of them a control character");
    }

    static void requireBetween(String field, long given, long min, long max) {
        require(given >= min && given <= max, field, given, "from " + min + " to " + max);
    }

    /** Requires a time by a node's clock, in milliseconds since 1970, or null for an unknown one. */
    static void requireTime(String field, @Nullable Long epochMillis) {
        if (epochMillis != null) {
            requireBetween(field, epochMillis, 0, MAX_EPOCH_MILLIS);
        }
    }

    /** Truncates a text to at most so many bytes in UTF-8, including the mark at the end of a truncated text. */
    static String cut(String text, int maxBytes) {
        if (text.getBytes(StandardCharsets.UTF_8).length <= maxBytes) {
            return text;
        }
        int left = maxBytes - CUT.length();
        int end = 0;
        while (end < text.length()) {
            int character = text.codePointAt(end);
            left -= character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
            if (left < 0) {
                break;
            }
            end += Character.charCount(character);
        }
        return text.substring(0, end) + CUT;
    }

    static void variable(String name) {
        check(VARIABLE.matcher(name).matches(), "environment: '%s' is not the name of a variable", name);
    }

    static void check(boolean holds, String message, Object... arguments) {
        if (!holds) {
            throw new IllegalArgumentException(message.formatted(arguments));
        }
    }
}
