package io.quartermaster.ledger;

import java.util.List;
import java.util.Optional;

/**
 * What usage is summed by.
 *
 * @param hourMillis the length of an hour
 * @param periodBegins the begins of the periods of {@link Usage.Dimension#PERIOD}, ascending, in epoch milliseconds. A
 *     period lasts until the next begin; usage before the first has no period
 * @param labelKey the key whose label {@link Usage.Dimension#LABEL_STATE} and {@link Usage.Dimension#LABEL_VALUE} are
 *     about; without a key usage has neither
 */
public record UsageGrouping(
        List<Usage.Dimension> dimensions, long hourMillis, List<Long> periodBegins, Optional<String> labelKey) {
    public UsageGrouping {
        dimensions = List.copyOf(dimensions);
        periodBegins = List.copyOf(periodBegins);
    }

    /** Sums by dimensions that need no more than their names. */
    public static UsageGrouping by(List<Usage.Dimension> dimensions) {
        return new UsageGrouping(dimensions, BookState.HOUR_MILLIS, List.of(), Optional.empty());
    }
}
