package io.quartermaster.client.output;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations as people write them, such as {@code 2h} or {@code 1h30m}, and as the API does, such as {@code PT2H}. */
public final class ReadableDuration {

    public static final String ACCEPTED = "a duration such as 90s, 45m, 2h, 1h30m, 3d or PT2H";

    private static final Pattern FORM = Pattern.compile("(?:(\\d+)d)?(?:(\\d+)h)?(?:(\\d+)m)?(?:(\\d+)s)?");
    private static final int SECONDS_PER_MINUTE = 60;
    private static final int MINUTES_PER_HOUR = 60;
    private static final int HOURS_PER_DAY = 24;

    private ReadableDuration() {}

    /** Fails with a message that repeats the text. */
    public static Duration parse(String text) {
        String trimmed = text.strip().toLowerCase(Locale.ROOT);
        try {
            Duration read = trimmed.startsWith("p") ? Duration.parse(trimmed) : parseShort(trimmed);
            if (read.isNegative()) {
                throw new IllegalArgumentException(refusal(text));
            }
            return read;
        } catch (DateTimeParseException | ArithmeticException | NumberFormatException e) {
            throw new IllegalArgumentException(refusal(text), e);
        }
    }

    private static Duration parseShort(String text) {
        Matcher matcher = FORM.matcher(text);
        if (text.isEmpty() || !matcher.matches()) {
            throw new IllegalArgumentException(refusal(text));
        }
        return Duration.ofDays(number(matcher, 1))
                .plusHours(number(matcher, 2))
                .plusMinutes(number(matcher, 3))
                .plusSeconds(number(matcher, 4));
    }

    private static long number(Matcher matcher, int group) {
        return matcher.group(group) == null ? 0 : Long.parseLong(matcher.group(group));
    }

    private static String refusal(String text) {
        return "\"" + text + "\" is not a duration; accepted: " + ACCEPTED;
    }

    /** The two largest units, such as {@code 2h5m} or {@code 12s}; less than a second is {@code 0s}. */
    public static String format(Duration duration) {
        Duration length = duration.isNegative() ? duration.negated() : duration;
        long seconds = length.toSeconds() % SECONDS_PER_MINUTE;
        long minutes = length.toMinutes() % MINUTES_PER_HOUR;
        long hours = length.toHours() % HOURS_PER_DAY;
        long days = length.toDays();
        if (days > 0) {
            return days + "d" + part(hours, "h");
        }
        if (hours > 0) {
            return hours + "h" + part(minutes, "m");
        }
        return minutes > 0 ? minutes + "m" + part(seconds, "s") : seconds + "s";
    }

    private static String part(long number, String unit) {
        return number == 0 ? "" : number + unit;
    }
}
