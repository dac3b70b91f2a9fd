package io.quartermaster.platform.http;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.AnnotationIntrospector;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.EnumNamingStrategy;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.cfg.CoercionAction;
import com.fasterxml.jackson.databind.cfg.CoercionInputShape;
import com.fasterxml.jackson.databind.cfg.MapperConfig;
import com.fasterxml.jackson.databind.deser.std.StdScalarDeserializer;
import com.fasterxml.jackson.databind.exc.InvalidFormatException;
import com.fasterxml.jackson.databind.exc.MismatchedInputException;
import com.fasterxml.jackson.databind.introspect.AnnotatedClass;
import com.fasterxml.jackson.databind.introspect.NopAnnotationIntrospector;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.type.LogicalType;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import io.quarkus.jackson.ObjectMapperCustomizer;
import io.quartermaster.platform.EnumNames;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Function;

/**
 * The settings for reading and writing JSON: camelCase fields, kebab-case words for enums, times and durations as
 * ISO-8601 text, absent fields instead of null. Unknown fields are refused, so that a misspelt field is never silently
 * ignored.
 */
@Singleton
public class JsonSettings implements ObjectMapperCustomizer {

    /** For programs that run without the service, such as the agent and the commands. */
    public static ObjectMapper newMapper() {
        ObjectMapper mapper = new ObjectMapper();
        mapper.registerModules(new JavaTimeModule(), new Jdk8Module());
        apply(mapper);
        return mapper;
    }

    /** Runs last, so that these settings override those of the discovered modules. */
    @Override
    public int priority() {
        return MINIMUM_PRIORITY;
    }

    @Override
    public void customize(ObjectMapper mapper) {
        apply(mapper);
    }

    private static void apply(ObjectMapper mapper) {
        // Of two values for one field, it is unknown which the sender meant.
        mapper.getFactory().enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION);
        mapper.enable(
                DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES,
                DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES,
                DeserializationFeature.FAIL_ON_NUMBERS_FOR_ENUMS,
                DeserializationFeature.FAIL_ON_READING_DUP_TREE_KEY,
                DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
        mapper.disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT);
        refuseOtherTypes(mapper);
        mapper.registerModule(new SimpleModule("times as text")
                .addDeserializer(Duration.class, new TextOnly<>(Duration.class, Duration::parse))
                .addDeserializer(Instant.class, new TextOnly<>(Instant.class, InstantParser::parse)));
        mapper.disable(
                SerializationFeature.WRITE_DATES_AS_TIMESTAMPS, SerializationFeature.WRITE_DURATIONS_AS_TIMESTAMPS);
        mapper.setDefaultPropertyInclusion(JsonInclude.Include.NON_NULL);
        mapper.setAnnotationIntrospector(AnnotationIntrospector.pair(
                mapper.getSerializationConfig().getAnnotationIntrospector(), new EnumWords()));
    }

    /** Refuses a number in quotes for a number, 1 for true, and a number for a text: the contract states the type. */
    private static void refuseOtherTypes(ObjectMapper mapper) {
        for (LogicalType number : List.of(LogicalType.Integer, LogicalType.Float, LogicalType.Boolean)) {
            refuse(mapper, number, CoercionInputShape.String, CoercionInputShape.EmptyString);
        }
        refuse(mapper, LogicalType.Boolean, CoercionInputShape.Integer, CoercionInputShape.Float);
        refuse(
                mapper,
                LogicalType.Textual,
                CoercionInputShape.Integer,
                CoercionInputShape.Float,
                CoercionInputShape.Boolean);
    }

    private static void refuse(ObjectMapper mapper, LogicalType type, CoercionInputShape... shapes) {
        for (CoercionInputShape shape : shapes) {
            mapper.coercionConfigFor(type).setCoercion(shape, CoercionAction.Fail);
        }
    }

    /** Reads times and durations as ISO-8601 text only; Jackson's own deserializers would read a number as seconds. */
    private static final class TextOnly<T> extends StdScalarDeserializer<T> {
        private static final long serialVersionUID = 1L;

        private final transient Function<String, T> reading;

        TextOnly(Class<T> type, Function<String, T> reading) {
            super(type);
            this.reading = reading;
        }

        @Override
        public T deserialize(JsonParser parser, DeserializationContext context) throws IOException {
            if (!parser.hasToken(JsonToken.VALUE_STRING)) {
                throw MismatchedInputException.from(parser, handledType(), "not a text");
            }
            try {
                return reading.apply(parser.getText());
            } catch (DateTimeException | ArithmeticException e) {
                throw InvalidFormatException.from(parser, "not as ISO-8601 writes it", parser.getText(), handledType());
            }
        }
    }

    /** Consulted after the annotations, so that an enum may still name its words itself. */
    private static final class EnumWords extends NopAnnotationIntrospector {
        private static final long serialVersionUID = 1L;

        @Override
        public Object findEnumNamingStrategy(MapperConfig<?> config, AnnotatedClass type) {
            return (EnumNamingStrategy) EnumNames::of;
        }
    }
}
