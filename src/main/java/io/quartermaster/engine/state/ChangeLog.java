package io.quartermaster.engine.state;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The log of state changes, in order, from which caches learn what they must recompute. A reader whose position is no
 * longer covered must rebuild its cache.
 */
public final class ChangeLog {
    /** The greatest length of the log; going through more changes one by one costs more than rebuilding. */
    private static final int MAX_CHANGES = 1 << 14;

    private final List<StateChange> log = new ArrayList<>();
    private int maxChanges = MAX_CHANGES;
    private long firstCursor;
    private boolean cursorTaken;
    private long useChanges;
    private long invalidations;

    /** Makes every change invalidate the whole log from now on. Recomputing everything must give the same results. */
    public void disableIncremental() {
        maxChanges = 0;
        invalidate();
    }

    /** Whether caches may rely on the log. */
    public boolean isIncremental() {
        return maxChanges > 0;
    }

    /**
     * The scheduling classes that the changes since a position may concern: those of changed groups, those of their
     * tenants, and single ones.
     */
    public Affected affectedSince(long cursor) {
        List<List<SchedulingClass>> together = new ArrayList<>(2);
        List<SchedulingClass> single = new ArrayList<>();
        for (long at = cursor; at < firstCursor + log.size(); at++) {
            switch (get(at)) {
                case GroupState groupState -> addNew(together, groupState.schedulingClasses());
                case GroupState.TenantBoundsChange bounds ->
                    addNew(together, bounds.group().tenant());
                case SchedulingClass schedulingClass -> single.add(schedulingClass);
                case CapacityChange passed -> {}
                case FairShareChange moved -> {}
                case AttemptChange attemptMade -> {}
            }
        }
        single.removeIf(schedulingClass -> !schedulingClass.isEmpty()
                && (isIn(together, schedulingClass.group().schedulingClasses())
                        || isIn(together, schedulingClass.group().tenant())));
        return new Affected(together, single);
    }

    private static void addNew(List<List<SchedulingClass>> together, List<SchedulingClass> schedulingClasses) {
        if (!isIn(together, schedulingClasses)) {
            together.add(schedulingClasses);
        }
    }

    /** Compares by identity, since the lists of two groups may have equal elements. */
    private static boolean isIn(List<List<SchedulingClass>> together, List<SchedulingClass> schedulingClasses) {
        for (List<SchedulingClass> known : together) {
            if (known == schedulingClasses) {
                return true;
            }
        }
        return false;
    }

    /** Scheduling classes to recompute, each at least once. The single ones may be empty by now. */
    public record Affected(List<List<SchedulingClass>> together, List<SchedulingClass> single) {

        public void forEach(Consumer<SchedulingClass> action) {
            single.forEach(action);
            together.forEach(schedulingClasses -> schedulingClasses.forEach(action));
        }
    }

    /** A change of a group's use, of a class's members, or of a fair share. */
    public sealed interface StateChange
            permits GroupState,
                    GroupState.TenantBoundsChange,
                    CapacityChange,
                    SchedulingClass,
                    AttemptChange,
                    FairShareChange {}

    /** The class has another next attempt because of its attempts in this plan; the class itself is unchanged. */
    public record AttemptChange(SchedulingClass schedulingClass) implements StateChange {}

    /**
     * The capacity of a pool, or of all pools together, may now prevent requests that it did not prevent before, or the
     * other way round.
     */
    public enum CapacityChange implements StateChange {
        CROSSED
    }

    static final StateChange CAPACITY = CapacityChange.CROSSED;

    public void add(StateChange stateChange) {
        useChanges += isUseChange(stateChange) ? 1 : 0;
        boolean again = !cursorTaken && !log.isEmpty() && log.getLast() == stateChange;
        if (!again) {
            if (log.size() >= maxChanges) {
                invalidate();
            }
            log.add(stateChange);
            cursorTaken = false;
        }
    }

    private static boolean isUseChange(StateChange stateChange) {
        return switch (stateChange) {
            case GroupState groupState -> true;
            case GroupState.TenantBoundsChange bounds -> true;
            case CapacityChange passed -> true;
            case FairShareChange moved -> true;
            case SchedulingClass schedulingClass -> false;
            case AttemptChange attemptMade -> false;
        };
    }

    /** How often the use or the share of some group has changed, or everything. */
    long useChanges() {
        return useChanges;
    }

    /** How often everything that was cached from the log was declared outdated. */
    long invalidations() {
        return invalidations;
    }

    /** Declares everything that was cached from the log outdated. */
    public void invalidate() {
        useChanges++;
        invalidations++;
        firstCursor += log.size() + 1L;
        log.clear();
    }

    /** The position of the next change. The caller has processed all changes before it. */
    public long takeCursor() {
        cursorTaken = true;
        return firstCursor + log.size();
    }

    /** Whether the log still has all changes from a position on. */
    public boolean covers(long cursor) {
        return cursor >= firstCursor;
    }

    public StateChange get(long cursor) {
        return log.get((int) (cursor - firstCursor));
    }
}
