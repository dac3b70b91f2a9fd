package io.quartermaster.engine.state;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * What changed in the books, in order, so that whoever keeps something worked out of them looks again at that alone.
 * Who comes too late to be told everything is told so, and begins anew.
 */
public final class ChangeLog {
    /** So many touches are not worth going through one by one. */
    private static final int MOST = 1 << 14;

    private final List<StateChange> log = new ArrayList<>();
    private int most = MOST;
    private long begin;
    private boolean taken;

    /** From now on all that was kept is forgotten with each touch. What is worked out anew each time must come to the same. */
    public void disableIncremental() {
        most = 0;
        invalidate();
    }

    /** The lines that touches since a place may concern: those of touched groups, or of their tenants, and single ones. */
    public Affected affectedSince(long place) {
        List<List<SchedulingClass>> together = new ArrayList<>(2);
        List<SchedulingClass> single = new ArrayList<>();
        for (long at = place; at < begin + log.size(); at++) {
            switch (get(at)) {
                case GroupState groupState -> addNew(together, groupState.lines());
                case GroupState.TenantBoundsChanged bounds ->
                    addNew(together, bounds.group().tenant());
                case SchedulingClass schedulingClass -> single.add(schedulingClass);
                case CapacityChange passed -> {}
                case FairShareChanged moved -> {}
                case AttemptMade attemptMade -> {}
            }
        }
        single.removeIf(schedulingClass -> !schedulingClass.isEmpty()
                && (isIn(together, schedulingClass.group().lines())
                        || isIn(together, schedulingClass.group().tenant())));
        return new Affected(together, single);
    }

    private static void addNew(List<List<SchedulingClass>> together, List<SchedulingClass> schedulingClasses) {
        if (!isIn(together, schedulingClasses)) {
            together.add(schedulingClasses);
        }
    }

    /** By identity: the lists of two groups may hold the same. */
    private static boolean isIn(List<List<SchedulingClass>> together, List<SchedulingClass> schedulingClasses) {
        for (List<SchedulingClass> known : together) {
            if (known == schedulingClasses) {
                return true;
            }
        }
        return false;
    }

    /** Lines to be looked at again, each at least once; those by themselves may be empty by now. */
    public record Affected(List<List<SchedulingClass>> together, List<SchedulingClass> single) {

        public void forEach(Consumer<SchedulingClass> action) {
            single.forEach(action);
            together.forEach(schedulingClasses -> schedulingClasses.forEach(action));
        }
    }

    /** One thing that changed: what a group uses, a line's members, or a fair share. */
    public sealed interface StateChange
            permits GroupState,
                    GroupState.TenantBoundsChanged,
                    CapacityChange,
                    SchedulingClass,
                    AttemptMade,
                    FairShareChanged {}

    /** What a line tries next is not what it was for what it has tried in this plan; of the line itself nothing changed. */
    public record AttemptMade(SchedulingClass line) implements StateChange {}

    /** What there is of a pool, or of all together, may be in the way of some who were not kept by it, or the other way round. */
    public enum CapacityChange implements StateChange {
        CROSSED
    }

    static final StateChange CAPACITY = CapacityChange.CROSSED;

    public void add(StateChange stateChange) {
        boolean again = !taken && !log.isEmpty() && log.getLast() == stateChange;
        if (!again) {
            if (log.size() >= most) {
                invalidate();
            }
            log.add(stateChange);
            taken = false;
        }
    }

    /** All that was kept holds no longer. */
    public void invalidate() {
        begin += log.size() + 1L;
        log.clear();
    }

    /** Where the next touch will be; who asks has taken note of all before. */
    public long cursor() {
        taken = true;
        return begin + log.size();
    }

    /** Whether all touches from a place on are still known. */
    public boolean covers(long place) {
        return place >= begin;
    }

    public StateChange get(long place) {
        return log.get((int) (place - begin));
    }
}
