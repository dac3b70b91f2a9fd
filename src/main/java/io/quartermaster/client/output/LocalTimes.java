package io.quartermaster.client.output;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Moments in the time zone of the reader. */
public final class LocalTimes {

    /** Moments in the sentences of the service, such as {@code 2026-12-01 08:00:00 UTC}. */
    private static final Pattern IN_SENTENCES =
            Pattern.compile("(\\d{4}-\\d{2}-\\d{2})[ T](\\d{2}:\\d{2}:\\d{2})(?:\\.\\d+)?(?: UTC|Z)");

    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT);
    private static final DateTimeFormatter DAY_AND_TIME =
            DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss", Locale.ROOT);
    private static final DateTimeFormatter WITH_ZONE =
            DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss xxx", Locale.ROOT);

    private final ZoneId zone;
    private final Instant now;

    public LocalTimes(ZoneId zone, Instant now) {
        this.zone = zone;
        this.now = now;
    }

    /** The reader's zone and the present. */
    public static LocalTimes here() {
        return new LocalTimes(ZoneId.systemDefault(), Instant.now());
    }

    /** The time alone if it is today, else with the day. */
    public String at(Instant instant) {
        ZonedDateTime local = instant.atZone(zone);
        boolean today = local.toLocalDate().equals(now.atZone(zone).toLocalDate());
        return local.format(today ? TIME : DAY_AND_TIME);
    }

    /** With day and offset, such as {@code 2026-12-01 09:00:00 +01:00}. */
    public String exactly(Instant instant) {
        return instant.atZone(zone).format(WITH_ZONE);
    }

    /** How long ago it was, or how soon it is, such as {@code 5m ago} or {@code in 2h}. */
    public String relative(Instant instant) {
        Duration ago = Duration.between(instant, now);
        String length = ReadableDuration.format(ago);
        return ago.isNegative() ? "in " + length : length + " ago";
    }

    /** The length from a moment until now, such as {@code 5m}. */
    public String since(Instant instant) {
        Duration ago = Duration.between(instant, now);
        return ReadableDuration.format(ago.isNegative() ? Duration.ZERO : ago);
    }

    /** The sentence with its moments in UTC replaced by those of the reader's zone. */
    public String inSentence(String sentence) {
        Matcher matcher = IN_SENTENCES.matcher(sentence);
        return matcher.replaceAll(
                found -> Matcher.quoteReplacement(at(Instant.parse(found.group(1) + "T" + found.group(2) + "Z"))));
    }
}
