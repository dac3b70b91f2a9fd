package io.quartermaster.platform;

import java.util.regex.Pattern;

/** The syntax of the labels that submitters give to their work. */
public final class LabelSyntax {

    /** The most characters of a value. */
    public static final int MAX_VALUE_CHARS = 256;

    public static final String KEY_ACCEPTED =
            "letters, digits and ._/-, of which the first is a letter or a digit, up to 127";

    private static final Pattern KEY = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._/-]{0,126}");

    private LabelSyntax() {}

    public static boolean isKey(String text) {
        return KEY.matcher(text).matches();
    }
}
