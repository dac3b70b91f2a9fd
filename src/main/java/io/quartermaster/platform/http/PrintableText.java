package io.quartermaster.platform.http;

/** Checks texts that users choose as names and that other users read. */
public final class PrintableText {

    private PrintableText() {}

    /**
     * Whether a text is one line of printable characters in their visible order. Control characters, lone surrogates,
     * line breaks and marks that change the direction of the text are not printable: with these, a name can look like
     * another one.
     */
    public static boolean isPrintable(String text) {
        return text.codePoints().noneMatch(PrintableText::isHidden);
    }

    private static boolean isHidden(int character) {
        return switch (Character.getType(character)) {
            case Character.CONTROL, Character.SURROGATE, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR ->
                true;
            default -> isDirectionMark(character);
        };
    }

    /** The Bidi_Control characters of Unicode. */
    private static boolean isDirectionMark(int character) {
        return character == 0x061C
                || character == 0x200E
                || character == 0x200F
                || character >= 0x202A && character <= 0x202E
                || character >= 0x2066 && character <= 0x2069;
    }
}
