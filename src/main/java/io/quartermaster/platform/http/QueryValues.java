package io.quartermaster.platform.http;

import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.ext.ParamConverter;
import jakarta.ws.rs.ext.ParamConverterProvider;
import jakarta.ws.rs.ext.Provider;
import java.lang.annotation.Annotation;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Reads whole numbers and booleans out of query parameters. The framework's own converters answer 404 for an invalid
 * number, and read every boolean other than {@code true} as false: a misspelt {@code dryRun} would write.
 */
@Provider
public final class QueryValues implements ParamConverterProvider {

    @Override
    public <T> @Nullable ParamConverter<T> getConverter(
            Class<T> rawType, @Nullable Type genericType, Annotation @Nullable [] annotations) {
        Optional<String> name = name(annotations);
        if (name.isEmpty()) {
            return null;
        }
        if (rawType == Integer.class || rawType == int.class) {
            return converter(name.get(), "a whole number", QueryValues::number);
        }
        if (rawType == Boolean.class || rawType == boolean.class) {
            return converter(name.get(), "true, false", QueryValues::truth);
        }
        return null;
    }

    private static Optional<String> name(Annotation @Nullable [] annotations) {
        return annotations == null
                ? Optional.empty()
                : Arrays.stream(annotations)
                        .filter(QueryParam.class::isInstance)
                        .map(annotation -> ((QueryParam) annotation).value())
                        .findFirst();
    }

    @SuppressWarnings("unchecked") // The caller has checked the class.
    private static <T> ParamConverter<T> converter(String name, String accepted, Function<String, Object> reading) {
        return new Reader<>(name, accepted, text -> (T) reading.apply(text));
    }

    private static Object number(String text) {
        return Integer.valueOf(text);
    }

    private static Object truth(String text) {
        return switch (text) {
            case "true" -> Boolean.TRUE;
            case "false" -> Boolean.FALSE;
            default -> throw new IllegalArgumentException(text);
        };
    }

    private record Reader<T>(String name, String accepted, Function<String, T> reading) implements ParamConverter<T> {

        @Override
        public T fromString(String text) {
            try {
                return reading.apply(text);
            } catch (IllegalArgumentException e) {
                throw ProblemException.invalid(name, "\"" + text + "\" is not accepted", accepted);
            }
        }

        @Override
        public String toString(T value) {
            return String.valueOf(value);
        }
    }
}
