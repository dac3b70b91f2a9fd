package io.quartermaster.platform.http;

import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.util.Locale;

/**
 * Reads instants as RFC 3339 writes them ({@code 2026-11-01T00:00:00Z}, {@code 2026-11-01T01:00:00+01:00}), and also
 * with an offset without a colon ({@code +0100}), which generated Python clients write.
 */
final class InstantParser {

    private static final DateTimeFormatter OFFSET_WITHOUT_COLON = new DateTimeFormatterBuilder()
            .parseCaseInsensitive()
            .append(DateTimeFormatter.ISO_LOCAL_DATE_TIME)
            .appendOffset("+HHMM", "Z")
            .toFormatter(Locale.ROOT);
    private static final String ENDS_WITHOUT_COLON = ".*[+-][0-9]{4}";

    private InstantParser() {}

    /** Fails with a {@link java.time.DateTimeException} on any other text. */
    static Instant parse(String text) {
        return (text.indexOf('T') > 0 && text.matches(ENDS_WITHOUT_COLON)
                        ? OffsetDateTime.parse(text, OFFSET_WITHOUT_COLON)
                        : OffsetDateTime.parse(text))
                .toInstant();
    }
}
