package io.quartermaster.metering.settings;

import java.time.ZoneId;
import java.time.zone.ZoneRulesException;
import java.util.Optional;

/** The time zones that usage can be divided by. */
public final class TimeZones {

    public static final String ACCEPTED = "a time zone of the IANA database, such as Europe/Berlin or UTC";

    private static final int MAX_LENGTH = 64;

    private TimeZones() {}

    /** The zone with this name; empty for unknown names, and for offsets such as {@code +02:00}. */
    public static Optional<ZoneId> parse(String name) {
        if (name.length() > MAX_LENGTH || !ZoneId.getAvailableZoneIds().contains(name)) {
            return Optional.empty();
        }
        try {
            return Optional.of(ZoneId.of(name));
        } catch (ZoneRulesException e) {
            return Optional.empty();
        }
    }
}
