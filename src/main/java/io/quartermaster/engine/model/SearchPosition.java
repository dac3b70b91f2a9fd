package io.quartermaster.engine.model;

import java.util.List;
import java.util.OptionalLong;

/**
 * The position of the searches for moves, which one plan leaves to the next. It is no input and follows from no input,
 * so that a snapshot must contain it.
 *
 * @param unfinished whether the last plan left some searches to the next
 * @param failed the requests for which moves made no room since work last left
 * @param failedBefore the other requests that an unfinished round of searches has tried in vain
 * @param transitionAtMillis when the calendar next rebuilds the state; empty if no time is known
 * @param lastPlanMillis the time of the last plan; work that comes of age later may be moved then
 */
public record SearchPosition(
        boolean unfinished,
        List<RequestKey> failed,
        List<RequestKey> failedBefore,
        OptionalLong transitionAtMillis,
        long lastPlanMillis) {

    public static final SearchPosition NONE = new SearchPosition(false, List.of(), List.of(), OptionalLong.empty(), 0);

    public SearchPosition {
        failed = List.copyOf(failed);
        failedBefore = List.copyOf(failedBefore);
    }
}
