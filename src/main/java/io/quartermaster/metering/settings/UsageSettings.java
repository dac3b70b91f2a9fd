package io.quartermaster.metering.settings;

import io.quartermaster.platform.LabelSyntax;
import io.quartermaster.platform.http.ProblemException;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/**
 * What a tenant states about its usage.
 *
 * @param earlierLabelKeys keys that were declared earlier, and are not now
 * @param version 0 if the tenant never stated any
 */
public record UsageSettings(
        @Schema(
                description = "keys of the labels that usage can be summed by; they count for allocations that begin "
                        + "after the declaration")
        List<String> labelKeys,

        @Schema(description = "keys that were declared earlier: usage of that time can still be summed by them")
        List<String> earlierLabelKeys,

        @Schema(description = "time zone of days, weeks and months, where a request states none", examples = "UTC")
        String timeZone,

        long version) {

    /** A request that replaces the settings. */
    @Schema(name = "UsageSettingsRequest")
    public record Request(
            @Schema(
                    required = true,
                    maxItems = MOST_KEYS,
                    description = "all label keys from now on, as workloads have them; an empty list declares none")
            @Nullable
            List<@Nullable String> labelKeys,

            @Schema(description = "time zone of the IANA database; absent: UTC", examples = "Europe/Berlin") @Nullable
            String timeZone) {}

    /** Each key costs rows of sums in every hour, and values in every segment. */
    static final int MOST_KEYS = 5;

    /** The most different keys over time, so that what is remembered is bounded. */
    static final int MOST_KEYS_EVER = 50;

    private static final String UTC = "UTC";

    /** The settings of a tenant that never stated any. */
    public static final UsageSettings NONE = new UsageSettings(List.of(), List.of(), UTC, 0);

    public UsageSettings {
        labelKeys = List.copyOf(labelKeys);
        earlierLabelKeys = List.copyOf(earlierLabelKeys);
    }

    /** The settings after a request; equal to these if it changes nothing. */
    UsageSettings replaced(@Nullable Request request) {
        if (request == null || request.labelKeys() == null) {
            throw ProblemException.invalid(
                    "labelKeys", "the list is missing", "a list of label keys, which may be empty");
        }
        List<@Nullable String> asked = request.labelKeys();
        String zone = request.timeZone() == null ? UTC : request.timeZone();
        var invalid = new ProblemException.Invalid()
                .check(asked.size() <= MOST_KEYS, "labelKeys", "there are " + asked.size(), "at most " + MOST_KEYS)
                .check(TimeZones.parse(zone).isPresent(), "timeZone", "is not a time zone", TimeZones.ACCEPTED);
        var keys = new TreeSet<String>();
        for (int i = 0; i < Math.min(asked.size(), MOST_KEYS); i++) {
            String key = asked.get(i);
            if (key == null || !LabelSyntax.isKey(key)) {
                invalid.add("labelKeys[" + i + "]", "is not the key of a label", LabelSyntax.KEY_ACCEPTED);
            } else {
                keys.add(key);
            }
        }
        invalid.throwIfAny();
        var earlier = new TreeSet<>(earlierLabelKeys);
        earlier.addAll(labelKeys);
        earlier.removeAll(keys);
        if (earlier.size() + keys.size() > MOST_KEYS_EVER) {
            throw ProblemException.refused(
                    "too-many-label-keys",
                    "labelKeys",
                    "with these keys, the tenant would have declared " + (earlier.size() + keys.size())
                            + " different keys over time",
                    "keys that were declared earlier; at most " + MOST_KEYS_EVER + " different ones in all");
        }
        UsageSettings replaced = new UsageSettings(new ArrayList<>(keys), new ArrayList<>(earlier), zone, version + 1);
        boolean changes = !replaced.labelKeys().equals(labelKeys) || !zone.equals(timeZone);
        return changes ? replaced : this;
    }
}
