package io.quartermaster.platform;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * How the constants of an enum are written in the API, in tables and in the engine's files: {@code OS_USER} is
 * {@code os-user}.
 */
public final class EnumNames {

    private EnumNames() {}

    public static String of(Enum<?> constant) {
        return of(constant.name());
    }

    public static String of(String constantName) {
        return constantName.toLowerCase(Locale.ROOT).replace('_', '-');
    }

    public static <E extends Enum<E>> Optional<E> parse(Class<E> type, String word) {
        return Arrays.stream(type.getEnumConstants())
                .filter(constant -> of(constant).equals(word))
                .findFirst();
    }

    /** Reads a stored word. Throws when no constant has it: then the data and the program do not match. */
    public static <E extends Enum<E>> E stored(Class<E> type, String word) {
        return parse(type, word)
                .orElseThrow(() -> new IllegalStateException("no " + type.getSimpleName() + " is written " + word));
    }

    /** All words of the type, for the field {@code accepted} of a problem. */
    public static <E extends Enum<E>> String accepted(Class<E> type) {
        return Arrays.stream(type.getEnumConstants()).map(EnumNames::of).collect(Collectors.joining(", "));
    }
}
