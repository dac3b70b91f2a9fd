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
 * Writes the states of books as JSON and reads them back. The fields are the components of {@link BookState} and its
 * parts, ids are plain text, and the version is {@link BookState#FORMAT}. Every field must be present, and no other.
 */
final class BookStateJson {

    /** A record with one text is written as that text. */
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

    /** A reader that refuses missing and unknown fields. */
    static ObjectReader reader(Class<?> type) {
        return MAPPER.readerFor(type).with(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES);
    }

    static String write(BookState state) {
        try {
            return WRITER.writeValueAsString(state);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("cannot write the state of a book", e);
        }
    }

    /** @throws IllegalStateException if {@link #write} did not write it: another format, or changed */
    static BookState read(String json) {
        try {
            return STATE.readValue(json);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("cannot read a stored state of a book: " + e.getOriginalMessage(), e);
        }
    }
}
