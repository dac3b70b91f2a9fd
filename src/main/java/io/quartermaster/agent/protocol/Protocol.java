package io.quartermaster.agent.protocol;

import java.util.regex.Pattern;

/** Version, path and bounds of the protocol, and the checks that several of its records share. */
public final class Protocol {
    /** What {@code formatVersion} says in both directions. */
    public static final int FORMAT_VERSION = 1;

    /** The longest that an agent may ask the service to hold a call open. */
    public static final long MAX_WAIT_MILLIS = 60_000;

    /** How long ago something may have happened: ten years. */
    public static final long MAX_AGE_MILLIS = 10L * 366 * 24 * 3_600_000;

    /** A tail of output is at most this many characters, made from at most as many bytes. */
    public static final int MAX_LOG_TAIL_BYTES = 16 * 1024;

    /** Attempts in one message. A node of 16 GPUs in shares of a tenth has 160. */
    public static final int MAX_ATTEMPTS = 1_000;

    /** Devices of one node, or of one attempt on it. */
    public static final int MAX_DEVICES = 256;

    /** Processors of a node, in thousandths, and its memory, in MiB: far beyond any machine. */
    public static final int MAX_CPU_MILLI = 100_000_000;

    public static final long MAX_MEMORY_MIB = 1L << 32;

    /** Characters of a version, of the id of a boot or of a device, of a model. */
    public static final int MAX_WORD = 128;

    /** Arguments of a command. */
    public static final int MAX_ARGUMENTS = 1_000;

    /** Names that become a folder: no separator, no leading dot or dash, nothing that a shell would read. */
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,127}");

    private static final Pattern VARIABLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,127}");

    private Protocol() {}

    /** The path of the one call, below the service's base address. */
    public static String syncPath(String node) {
        return "/v1/nodes/" + name("node", node) + "/sync";
    }

    /** The path at which the service gives sessions to the node. */
    public static String sessionsPath(String node) {
        return "/v1/nodes/" + name("node", node) + "/sessions";
    }

    /** Returns {@code value}, or throws {@link IllegalArgumentException} if it cannot be a folder's name. */
    public static String name(String field, String value) {
        check(NAME.matcher(value).matches(), "%s must match %s, was '%s'", field, NAME, value);
        return value;
    }

    /** Whether a text has from 1 to {@code most} characters, not all of them blank and none a control character. */
    static boolean isLine(String text, int most) {
        return !text.isBlank() && text.length() <= most && text.chars().noneMatch(Character::isISOControl);
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
