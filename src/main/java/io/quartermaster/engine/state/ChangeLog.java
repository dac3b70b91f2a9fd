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
    private static final int MOST = 1 << 14;

    private final List<StateChange> log = new ArrayList<>();
    private int most = MOST;
    private long begin;
    private boolean taken;
    private long changesOfUse;

    /** Makes every change invalidate the whole log from now on. Recomputing everything must give the same results. */
    public void disableIncremental() {
        most = 0;
        invalidate();
    }

    /** Whether caches may rely on the log. */
    public boolean isIncremental() {
        return most > 0;
    }

    /**
     * The scheduling classes that the changes since a position may concern: those of changed groups, those of their
     * tenants, and single ones.
     */
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
                    GroupState.TenantBoundsChanged,
                    CapacityChange,
                    SchedulingClass,
                    AttemptMade,
                    FairShareChanged {}

    /** The class has another next attempt because of its attempts in this plan; the class itself is unchanged. */
    public record AttemptMade(SchedulingClass line) implements StateChange {}

    /**
     * The capacity of a pool, or of all pools together, may now prevent requests that it did not prevent before, or the
     * other way round.
     */
    public enum CapacityChange implements StateChange {
        CROSSED
    }

    static final StateChange CAPACITY = CapacityChange.CROSSED;

    public void add(StateChange stateChange) {
        changesOfUse += isOfUse(stateChange) ? 1 : 0;
        boolean again = !taken && !log.isEmpty() && log.getLast() == stateChange;
        if (!again) {
            if (log.size() >= most) {
                invalidate();
            }
            log.add(stateChange);
            taken = false;
        }
    }

    private static boolean isOfUse(StateChange stateChange) {
        return switch (stateChange) {
            case GroupState groupState -> true;
            case GroupState.TenantBoundsChanged bounds -> true;
            case CapacityChange passed -> true;
            case FairShareChanged moved -> true;
            case SchedulingClass schedulingClass -> false;
            case AttemptMade attemptMade -> false;
        };
    }

    /** How often the use or the share of some group has changed, or everything. */
    long changesOfUse() {
        return changesOfUse;
    }

    /** Declares everything that was cached from the log outdated. */
    public void invalidate() {
        changesOfUse++;
        begin += log.size() + 1L;
        log.clear();
    }

    /** The position of the next change. The caller has processed all changes before it. */
    public long cursor() {
        taken = true;
        return begin + log.size();
    }

    /** Whether the log still has all changes from a position on. */
    public boolean covers(long place) {
        return place >= begin;
    }

    public StateChange get(long place) {
        return log.get((int) (place - begin));
    }
}
