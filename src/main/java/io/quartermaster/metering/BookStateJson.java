package io.quartermaster.metering;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonValue;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import io.quartermaster.ledger.AllocationId;
import io.quartermaster.ledger.BookState;
import io.quartermaster.ledger.PolicyId;
import io.quartermaster.ledger.PoolKey;
import io.quartermaster.ledger.TenantKey;
import io.quartermaster.platform.http.JsonSettings;

/**
 * How the states of books are written as JSON and read back: the fields are the components of {@link BookState} and its parts, ids are
 * plain text, and the version is {@link BookState#FORMAT}. Every field must be there, and no other.
 */
final class BookStateJson {

    /** A record of one text is that text. */
    private abstract static class PlainText {
        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        PlainText(String value) {}

        @JsonValue
        abstract String value();
    }

    private static final ObjectMapper MAPPER = mapper();
    private static final ObjectWriter WRITER = MAPPER.writerFor(BookState.class);
    private static final ObjectReader STATE = reader(BookState.class);

    private BookStateJson() {}

    private static ObjectMapper mapper() {
        ObjectMapper mapper = JsonSettings.newMapper();
        mapper.addMixIn(TenantKey.class, PlainText.class);
        mapper.addMixIn(PoolKey.class, PlainText.class);
        mapper.addMixIn(PolicyId.class, PlainText.class);
        mapper.addMixIn(AllocationId.class, PlainText.class);
        mapper.setDefaultPropertyInclusion(JsonInclude.Include.ALWAYS);
        return mapper;
    }

    /** A reader to which a missing field is as wrong as an unknown one. */
    static ObjectReader reader(Class<?> type) {
        return MAPPER.readerFor(type).with(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES);
    }

    static String write(BookState state) {
        try {
            return WRITER.writeValueAsString(state);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("the state of a book cannot be written", e);
        }
    }

    /** @throws IllegalStateException if it is not what {@link #write} gave: of another format, or changed */
    static BookState read(String json) {
        try {
            return STATE.readValue(json);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a stored state of a book cannot be read: " + e.getOriginalMessage(), e);
        }
    }
}
