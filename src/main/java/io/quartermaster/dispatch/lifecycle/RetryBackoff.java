package io.quartermaster.dispatch.lifecycle;

import io.quartermaster.engine.model.TimeFormat;
import java.util.OptionalLong;

/**
 * How often in a row the attempts of a workload were lost soon after they were bound, and until when it is not tried again for that: a
 * second after the first such loss, then twice as long each time, five minutes at most. Where starts are lost at once, the next one would
 * be as well, and each is an attempt, usage and a reason to look.
 */
public record RetryBackoff(int quickLosses, OptionalLong retryAtMillis) {

    public static final RetryBackoff NONE = new RetryBackoff(0, OptionalLong.empty());

    /** Surplus workers lost so soon, of one attempt, until others are not asked for in their place. */
    public static final int SURPLUS_LOSSES = 5;

    private static final long SOON_MILLIS = 60_000;
    private static final long FIRST_MILLIS = 1_000;
    private static final long LONGEST_MILLIS = 300_000;

    /** Whether what was bound and lost then was lost soon. */
    public static boolean isQuick(long boundMillis, long lostMillis) {
        return lostMillis - boundMillis < SOON_MILLIS;
    }

    public RetryBackoff afterLoss(long boundMillis, long lostMillis) {
        if (!isQuick(boundMillis, lostMillis)) {
            return NONE;
        }
        long delay = Math.min(LONGEST_MILLIS, FIRST_MILLIS << Math.min(quickLosses, 20));
        return new RetryBackoff(quickLosses + 1, OptionalLong.of(lostMillis + delay));
    }

    /** It is tried again now; what happened is kept in mind. */
    public RetryBackoff withoutDelay() {
        return new RetryBackoff(quickLosses, OptionalLong.empty());
    }

    boolean delays(long nowMillis) {
        return retryAtMillis.isPresent() && retryAtMillis.getAsLong() > nowMillis;
    }

    public String sentence() {
        String lost = quickLosses == 1 ? "Its last attempt was" : "Its last " + quickLosses + " attempts were";
        return lost + " lost within a minute of being given GPUs; it is tried again at "
                + TimeFormat.utc(retryAtMillis.orElse(0)) + ".";
    }
}
