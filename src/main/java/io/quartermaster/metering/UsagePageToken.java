package io.quartermaster.metering;

import io.quartermaster.platform.http.ProblemException;
import java.time.Instant;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The start of a page of several tenants' usage, as page tokens carry it.
 *
 * @param now the time that absent ends of the window refer to, for all pages of a list
 * @param after the last tenant of the page before
 */
record UsagePageToken(Instant now, String after) {

    private static final Pattern FORM = Pattern.compile("([0-9]{1,15}) ([a-z0-9-]{1,64})");

    static UsagePageToken read(String text) {
        Matcher matcher = FORM.matcher(text);
        if (!matcher.matches()) {
            throw ProblemException.invalid(
                    "pageToken", "is not a token of this list", "the nextPageToken of the page before");
        }
        return new UsagePageToken(Instant.ofEpochMilli(Long.parseLong(matcher.group(1))), matcher.group(2));
    }

    @Override
    public String toString() {
        return now.toEpochMilli() + " " + after;
    }
}
