package io.quartermaster.platform;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * How the constants of an enum are written in the API, in tables and in the engine's files: {@code OS_USER} is
 * {@code os-user}.
 */
public final class EnumNames {

    /** The words of a type, made once: ledgers read and write them by the million. */
    private record Words(String[] byOrdinal, Map<String, Enum<?>> constants) {}

    private static final ClassValue<Words> WORDS = new ClassValue<>() {
        @Override
        protected Words computeValue(Class<?> type) {
            Object[] constants = type.getEnumConstants();
            String[] byOrdinal = new String[constants.length];
            Map<String, Enum<?>> found = new HashMap<>();
            for (Object each : constants) {
                Enum<?> constant = (Enum<?>) each;
                byOrdinal[constant.ordinal()] = of(constant.name());
                found.put(byOrdinal[constant.ordinal()], constant);
            }
            return new Words(byOrdinal, Map.copyOf(found));
        }
    };

    private EnumNames() {}

    public static String of(Enum<?> constant) {
        return WORDS.get(constant.getDeclaringClass()).byOrdinal()[constant.ordinal()];
    }

    public static String of(String constantName) {
        return constantName.toLowerCase(Locale.ROOT).replace('_', '-');
    }

    public static <E extends Enum<E>> Optional<E> parse(Class<E> type, String word) {
        return Optional.ofNullable(WORDS.get(type).constants().get(word)).map(type::cast);
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
