package io.quartermaster.engine;

import java.util.ArrayList;
import java.util.List;

/**
 * What changed in the books, in order, so that whoever keeps something worked out of them looks again at that alone.
 * Who comes too late to be told everything is told so, and begins anew.
 */
final class Touches {
    /** So many touches are not worth going through one by one. */
    private static final int MOST = 1 << 14;

    private final List<Touch> log = new ArrayList<>();
    private long begin;
    private boolean taken;

    /** One thing that changed: what a group uses, a line's members, or a fair share. */
    sealed interface Touch permits Group, Line, FairShareMoved {}

    void add(Touch touch) {
        boolean again = !taken && !log.isEmpty() && log.getLast() == touch;
        if (!again) {
            if (log.size() == MOST) {
                forgetAll();
            }
            log.add(touch);
            taken = false;
        }
    }

    /** All that was kept holds no longer. */
    void forgetAll() {
        begin += log.size() + 1L;
        log.clear();
    }

    /** Where the next touch will be; who asks has taken note of all before. */
    long end() {
        taken = true;
        return begin + log.size();
    }

    /** Whether all touches from a place on are still known. */
    boolean knowsSince(long place) {
        return place >= begin;
    }

    Touch get(long place) {
        return log.get((int) (place - begin));
    }
}
