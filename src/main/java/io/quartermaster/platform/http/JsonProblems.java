package io.quartermaster.platform.http;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonStreamContext;
import com.fasterxml.jackson.core.exc.InputCoercionException;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.core.io.JsonEOFException;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.exc.InvalidFormatException;
import com.fasterxml.jackson.databind.exc.InvalidTypeIdException;
import com.fasterxml.jackson.databind.exc.MismatchedInputException;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import com.fasterxml.jackson.databind.exc.ValueInstantiationException;
import io.quartermaster.platform.EnumNames;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Explains in the API's terms why a JSON document cannot be read: the field, the given value and the accepted values.
 * It passes on no text of the JSON library.
 */
public final class JsonProblems {

    /** How Jackson's messages begin; the exceptions have no types of their own. */
    private static final String DUPLICATE = "Duplicate field";

    private static final String NO_CONTENT = "No content";

    private static final String BODY = "body";
    private static final String DOCUMENT = "a JSON document";

    /** Characters of a refused value that are repeated to its sender. */
    private static final int MAX_REPEATED = 100;

    private JsonProblems() {}

    static Problem of(JacksonException e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            switch (cause) {
                case InputCoercionException number -> {
                    return outOfRange(e, number);
                }
                case JsonParseException parse -> {
                    return unreadable(parse);
                }
                case StreamConstraintsException tooMuch -> {
                    return invalid(
                            BODY,
                            "a part of the document is nested too deeply or is too long",
                            "at most 1000 levels, names of 50000 characters and numbers of 1000 digits");
                }
                default -> {}
            }
        }
        String field = e instanceof JsonMappingException mapping ? path(mapping) : BODY;
        return switch (e) {
            case UnrecognizedPropertyException unknown ->
                invalid(
                        field,
                        "there is no such field",
                        unknown.getKnownPropertyIds().stream()
                                .map(String::valueOf)
                                .sorted()
                                .collect(Collectors.joining(", ")));
            case InvalidFormatException format ->
                invalid(
                        field,
                        "\"" + shorten(String.valueOf(format.getValue())) + "\" is not accepted",
                        accepted(format.getTargetType()));
            case ValueInstantiationException refused ->
                invalid(field, cause(refused), accepted(refused.getType().getRawClass()));
            case InvalidTypeIdException kind ->
                invalid(field, WRONG_TYPE, accepted(kind.getBaseType().getRawClass()));
            case MismatchedInputException mismatch when isMissing(mismatch) -> invalid(BODY, "is missing", DOCUMENT);
            case MismatchedInputException mismatch -> invalid(field, WRONG_TYPE, accepted(mismatch.getTargetType()));
            case JsonMappingException mapping -> invalid(field, cause(mapping), null);
            default -> invalid(BODY, "not a JSON document", DOCUMENT);
        };
    }

    private static final String WRONG_TYPE = "not of the type of this field";

    private static boolean isMissing(MismatchedInputException e) {
        return e.getPath().isEmpty() && e.getOriginalMessage().startsWith(NO_CONTENT);
    }

    private static Problem outOfRange(JacksonException e, InputCoercionException number) {
        Class<?> type = number.getTargetType();
        String accepted =
                switch (type == null ? "" : type.getSimpleName()) {
                    case "int" -> "a whole number from " + Integer.MIN_VALUE + " to " + Integer.MAX_VALUE;
                    case "long" -> "a whole number from " + Long.MIN_VALUE + " to " + Long.MAX_VALUE;
                    default -> "a smaller number";
                };
        String field = e instanceof JsonMappingException mapping ? path(mapping) : BODY;
        return invalid(field, text(number.getProcessor()) + " is out of range", accepted);
    }

    /** The token at the parser's position. */
    private static String text(@Nullable JsonParser parser) {
        try {
            return parser == null ? "the number" : shorten(String.valueOf(parser.getText()));
        } catch (IOException | RuntimeException e) {
            return "the number";
        }
    }

    private static Problem unreadable(JsonParseException e) {
        if (e.getProcessor() != null && e.getOriginalMessage().startsWith(DUPLICATE)) {
            return invalid(path(e.getProcessor().getParsingContext()), "given twice", "each field once");
        }
        String what = e instanceof JsonEOFException ? "the document ends too early" : "the document is not JSON";
        JsonLocation at = e.getLocation();
        return invalid(
                BODY,
                at == null ? what : what + " at line " + at.getLineNr() + ", column " + at.getColumnNr(),
                DOCUMENT);
    }

    static Problem invalid(String field, String message, @Nullable String accepted) {
        return Problem.of(
                400, "invalid-input", field + ": " + message, List.of(new Problem.Field(field, message, accepted)));
    }

    /** The message of the service's own check, if one refused the value. */
    private static String cause(JsonMappingException e) {
        return e.getCause() instanceof IllegalArgumentException known && known.getMessage() != null
                ? known.getMessage()
                : WRONG_TYPE;
    }

    private static String shorten(String text) {
        return text.length() <= MAX_REPEATED ? text : text.substring(0, MAX_REPEATED) + "...";
    }

    /** The values that a field of this type accepts; null for types without a general description. */
    private static @Nullable String accepted(@Nullable Class<?> type) {
        if (type == null) {
            return null;
        }
        if (type.isEnum()) {
            return Arrays.stream(type.getEnumConstants())
                    .map(constant -> EnumNames.of((Enum<?>) constant))
                    .collect(Collectors.joining(", "));
        }
        JsonSubTypes family = type.getAnnotation(JsonSubTypes.class);
        if (family != null) {
            return "an object of one of these kinds: "
                    + Arrays.stream(family.value()).map(JsonSubTypes.Type::name).collect(Collectors.joining(", "));
        }
        String scalar = SCALARS.get(type);
        if (scalar != null) {
            return scalar;
        }
        if (Collection.class.isAssignableFrom(type) || type.isArray()) {
            return "a list";
        }
        if (Map.class.isAssignableFrom(type)) {
            return "an object";
        }
        return type.isRecord() ? ofValue(type).orElse("an object") : null;
    }

    private static final String WHOLE_NUMBER = "a whole number";
    private static final String NUMBER = "a number";
    private static final String TRUTH = "true, false";

    private static final Map<Class<?>, String> SCALARS = Map.ofEntries(
            Map.entry(Duration.class, "an ISO-8601 duration such as PT30S"),
            Map.entry(Instant.class, "an ISO-8601 time such as 2026-01-31T00:00:00Z"),
            Map.entry(String.class, "a text"),
            Map.entry(UUID.class, "a UUID such as 01890a5d-ac96-774b-bcce-b302099a8057"),
            Map.entry(Boolean.class, TRUTH),
            Map.entry(boolean.class, TRUTH),
            Map.entry(Integer.class, WHOLE_NUMBER),
            Map.entry(int.class, WHOLE_NUMBER),
            Map.entry(Long.class, WHOLE_NUMBER),
            Map.entry(long.class, WHOLE_NUMBER),
            Map.entry(BigInteger.class, WHOLE_NUMBER),
            Map.entry(BigDecimal.class, NUMBER),
            Map.entry(Double.class, NUMBER),
            Map.entry(double.class, NUMBER));

    /** The constant {@code ACCEPTED} of a record that is written as one text. */
    private static Optional<String> ofValue(Class<?> type) {
        try {
            return Optional.of((String) type.getField("ACCEPTED").get(null));
        } catch (NoSuchFieldException | IllegalAccessException e) {
            return Optional.empty();
        }
    }

    /**
     * The path of a parser's position. It is more precise than the exception while no deserializer of the field's
     * object has begun.
     */
    private static String path(JsonStreamContext context) {
        if (context.inRoot()) {
            return "";
        }
        String parent = path(context.getParent());
        return context.inArray()
                ? parent + "[" + context.getCurrentIndex() + "]"
                : (parent.isEmpty() ? "" : parent + ".") + context.getCurrentName();
    }

    /** The path of the field that a failure is about, such as {@code pools[0].reserved}. */
    public static String path(JsonMappingException e) {
        StringBuilder path = new StringBuilder();
        for (JsonMappingException.Reference step : e.getPath()) {
            if (step.getFieldName() == null) {
                path.append('[').append(step.getIndex()).append(']');
            } else {
                path.append(path.isEmpty() ? "" : ".").append(step.getFieldName());
            }
        }
        return path.isEmpty() ? BODY : path.toString();
    }
}
