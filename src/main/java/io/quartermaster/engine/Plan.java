package io.quartermaster.engine;

import java.util.List;
import java.util.OptionalLong;

/**
 * What to do now.
 *
 * @param decisions in the order in which they were taken; a start may need the room that an earlier one left
 * @param waits every waiting workload whose reason (code, pool or path in the way) is not what it was after the last
 *     plan, in order of their ids; numbers alone make no new reason
 * @param nextPlanAtMillis when time alone may change something, if nothing else happens before
 */
public record Plan(long nowMillis, List<Decision> decisions, List<Wait> waits, OptionalLong nextPlanAtMillis) {

    public Plan {
        decisions = List.copyOf(decisions);
        waits = List.copyOf(waits);
    }
}
