package io.quartermaster.metering;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonValue;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import com.fasterxml.jackson.databind.annotation.JsonSerialize;
import com.fasterxml.jackson.databind.util.StdConverter;
import io.quartermaster.ledger.AllocationId;
import io.quartermaster.ledger.AllocationMarks;
import io.quartermaster.ledger.BookState;
import io.quartermaster.ledger.PolicyId;
import io.quartermaster.ledger.PoolKey;
import io.quartermaster.ledger.TenantKey;
import io.quartermaster.platform.http.JsonSettings;

/**
 * Writes the states of books as JSON and reads them back. The fields are the components of {@link BookState} and its
 * parts, ids are plain text, and the marks of allocations are those of the state's format. Every field must be present,
 * and no other.
 */
final class BookStateJson {

    /** A record with one text is written as that text. */
    private abstract static class PlainText {
        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        PlainText(String value) {}

        @JsonValue
        abstract String value();
    }

    @JsonSerialize(converter = ToPlain.class)
    @JsonDeserialize(converter = FromPlain.class)
    private abstract static class PlainMarks {}

    private static final class ToPlain extends StdConverter<AllocationMarks, StoredMarks.Plain> {
        @Override
        public StoredMarks.Plain convert(AllocationMarks marks) {
            return StoredMarks.Plain.of(marks);
        }
    }

    private static final class FromPlain extends StdConverter<StoredMarks.Plain, AllocationMarks> {
        @Override
        public AllocationMarks convert(StoredMarks.Plain stored) {
            return stored.marks();
        }
    }

    @JsonSerialize(converter = ToLabelled.class)
    @JsonDeserialize(converter = FromLabelled.class)
    private abstract static class LabelledMarks {}

    private static final class ToLabelled extends StdConverter<AllocationMarks, StoredMarks.Labelled> {
        @Override
        public StoredMarks.Labelled convert(AllocationMarks marks) {
            return StoredMarks.Labelled.of(marks);
        }
    }

    private static final class FromLabelled extends StdConverter<StoredMarks.Labelled, AllocationMarks> {
        @Override
        public AllocationMarks convert(StoredMarks.Labelled stored) {
            return stored.marks();
        }
    }

    private static final ObjectMapper MAPPER = mapper(PlainMarks.class);
    private static final ObjectMapper LABELLED = mapper(LabelledMarks.class);
    private static final ObjectWriter WRITER = MAPPER.writerFor(BookState.class);
    private static final ObjectWriter LABELLED_WRITER = LABELLED.writerFor(BookState.class);
    private static final ObjectReader STATE = reader(BookState.class);
    private static final ObjectReader LABELLED_STATE = strict(LABELLED, BookState.class);

    private BookStateJson() {}

    private static ObjectMapper mapper(Class<?> marks) {
        ObjectMapper mapper = JsonSettings.newMapper();
        mapper.addMixIn(AllocationMarks.class, marks);
        mapper.addMixIn(TenantKey.class, PlainText.class);
        mapper.addMixIn(PoolKey.class, PlainText.class);
        mapper.addMixIn(PolicyId.class, PlainText.class);
        mapper.addMixIn(AllocationId.class, PlainText.class);
        mapper.setDefaultPropertyInclusion(JsonInclude.Include.ALWAYS);
        return mapper;
    }

    /** A reader that refuses missing and unknown fields. */
    static ObjectReader reader(Class<?> type) {
        return strict(MAPPER, type);
    }

    private static ObjectReader strict(ObjectMapper mapper, Class<?> type) {
        return mapper.readerFor(type).with(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES);
    }

    static String write(BookState state) {
        try {
            boolean labelled = state.format() == BookState.LABELLED_FORMAT;
            return (labelled ? LABELLED_WRITER : WRITER).writeValueAsString(state);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("cannot write the state of a book", e);
        }
    }

    /**
     * Reads a state of a format.
     *
     * @throws IllegalStateException if {@link #write} did not write it: another format, or changed
     */
    static BookState read(long format, String json) {
        if (format != BookState.FIRST_FORMAT && format != BookState.LABELLED_FORMAT) {
            throw new IllegalStateException("the state of a book has format " + format + ", but this program reads "
                    + BookState.FIRST_FORMAT + " and " + BookState.LABELLED_FORMAT);
        }
        try {
            return (format == BookState.LABELLED_FORMAT ? LABELLED_STATE : STATE).readValue(json);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("cannot read a stored state of a book: " + e.getOriginalMessage(), e);
        }
    }
}
