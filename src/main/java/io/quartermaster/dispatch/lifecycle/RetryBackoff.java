package io.quartermaster.dispatch.lifecycle;

import io.quartermaster.engine.model.TimeFormat;
import java.util.OptionalLong;

/**
 * The number of attempts in a row that were lost soon after they were bound, and the time of the next try. The delay is
 * a second after the first such loss and doubles each time, up to five minutes. If starts are lost immediately, the
 * next one probably is as well, and each start costs an attempt, usage and an operator's attention.
 */
public record RetryBackoff(int quickLosses, OptionalLong retryAtMillis) {

    public static final RetryBackoff NONE = new RetryBackoff(0, OptionalLong.empty());

    /** The number of such losses of an attempt's surplus workers after which no further ones are requested. */
    public static final int MAX_SURPLUS_LOSSES = 5;

    private static final long QUICK_LOSS_MILLIS = 60_000;
    private static final long FIRST_DELAY_MILLIS = 1_000;
    private static final long MAX_DELAY_MILLIS = 300_000;

    /** Whether an attempt was lost soon after it was bound. */
    public static boolean isQuick(long boundMillis, long lostMillis) {
        return lostMillis - boundMillis < QUICK_LOSS_MILLIS;
    }

    public RetryBackoff afterLoss(long boundMillis, long lostMillis) {
        if (!isQuick(boundMillis, lostMillis)) {
            return NONE;
        }
        long delay = Math.min(MAX_DELAY_MILLIS, FIRST_DELAY_MILLIS << Math.min(quickLosses, 20));
        return new RetryBackoff(quickLosses + 1, OptionalLong.of(lostMillis + delay));
    }

    /** The workload is tried again now; the count of losses stays. */
    public RetryBackoff withoutDelay() {
        return new RetryBackoff(quickLosses, OptionalLong.empty());
    }

    boolean isDelayedAt(long nowMillis) {
        return retryAtMillis.isPresent() && retryAtMillis.getAsLong() > nowMillis;
    }

    public String sentence() {
        String lost = quickLosses == 1 ? "Its last attempt was" : "Its last " + quickLosses + " attempts were";
        return lost + " lost within a minute of being given GPUs; it is tried again at "
                + TimeFormat.utc(retryAtMillis.orElse(0)) + ".";
    }
}
