package io.quartermaster.engine.benchmark;

import io.quartermaster.engine.EngineSteps;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Plan;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;

/** A representative cell that was filled from empty, with the cost of that; then it takes events. */
final class FilledCell {
    /** More plans of one moment than this mean that they come to no end. */
    private static final int MOST_PLANS = 10_000;

    private static final long NEVER = Long.MAX_VALUE;

    private static final int MILLIS_BETWEEN_EVENTS = 100;

    private final CellSource cell;
    private final CellShell shell;
    private final Random random;
    private final int mostWaiting;
    private final FillCost cost;
    private boolean isAbandoned;
    private long nowMillis = RepresentativeCell.BEGIN_MILLIS;

    private FilledCell(CellSource cell, long seed, Violations violations, long untilNanos) {
        this.cell = cell;
        random = new Random(seed);
        List<Change> base = cell.base();
        List<Change> queue = cell.queue();
        shell = new CellShell(cell.settings(), violations);
        shell.apply(base);
        shell.apply(queue);
        shell.prepare();
        long first = 0;
        OptionalLong last = OptionalLong.empty();
        try {
            while (last.isEmpty()) {
                long before = shell.cpuOfAllNanos();
                Plan plan = shell.plan(nowMillis, untilNanos);
                long took = shell.cpuOfAllNanos() - before;
                first = shell.plans() == 1 ? took : first;
                if (shell.anyLeaving()) {
                    shell.apply(shell.allLeave(nowMillis));
                } else if (plan.decisions().isEmpty() && !isDue(plan)) {
                    last = OptionalLong.of(took);
                }
                if (shell.plans() > MOST_PLANS) {
                    throw new IllegalStateException("the plans of one moment come to no end");
                }
            }
        } catch (EngineSteps.PlanAbandoned abandoned) {
            last = OptionalLong.empty();
        }
        cost = new FillCost(
                shell.starts(),
                shell.plans(),
                shell.applyNanos(),
                shell.prepareNanos(),
                shell.planNanos(),
                first,
                last);
        mostWaiting = shell.waiting();
    }

    private boolean isDue(Plan plan) {
        return plan.nextPlanAtMillis().isPresent() && plan.nextPlanAtMillis().getAsLong() <= nowMillis;
    }

    /**
     * Fills an empty cell, with plans until nothing more is decided, or until the thread has used its time.
     *
     * @param untilNanos the CPU time of the thread at which it abandons the fill
     */
    static FilledCell fill(CellSource cell, long seed, Violations violations, long untilNanos) {
        return new FilledCell(cell, seed, violations, untilNanos);
    }

    /** What the fill has cost. */
    FillCost cost() {
        return cost;
    }

    CellShell shell() {
        return shell;
    }

    long nowMillis() {
        return nowMillis;
    }

    /** Plans without any news: the engine may answer without looking. */
    Samples settledPlans(int count) {
        Samples samples = new Samples();
        for (int i = 0; i < count; i++) {
            long before = shell.cpuOfAllNanos();
            shell.plan(nowMillis, NEVER);
            samples.add(shell.cpuOfAllNanos() - before);
        }
        return samples;
    }

    /** Plans after news that can change nothing: a held workload comes, or goes. */
    Samples idlePlans(int count, long untilNanos) {
        Samples samples = new Samples();
        List<Change> leave = new ArrayList<>();
        for (int i = 0; i < count && CellShell.cpuNanos() < untilNanos; i++) {
            List<Change> change = leave.isEmpty()
                    ? List.of(new Change.WorkloadSet(cell.arrival(nowMillis).asHeld()))
                    : List.copyOf(leave);
            leave.clear();
            if (change.getFirst() instanceof Change.WorkloadSet(var workload)) {
                leave.add(new Change.WorkloadRemoved(workload.id()));
            }
            samples.add(shell.event(change, nowMillis, NEVER));
        }
        if (!leave.isEmpty()) {
            shell.event(leave, nowMillis, NEVER);
        }
        return samples;
    }

    /**
     * Takes the next event: a victim leaves, a workload arrives while fewer wait than after the fill, or else a running
     * one ends. Returns the CPU time to the decision.
     */
    long nextEvent(long untilNanos) {
        nowMillis += MILLIS_BETWEEN_EVENTS;
        Change event = shell.anyLeaving()
                ? shell.nextLeaves(nowMillis)
                : shell.waiting() < mostWaiting || shell.running() == 0
                        ? new Change.WorkloadSet(cell.arrival(nowMillis))
                        : shell.end(shell.anyRunning(random));
        try {
            return shell.event(List.of(event), nowMillis, untilNanos);
        } catch (EngineSteps.PlanAbandoned abandoned) {
            isAbandoned = true;
            throw abandoned;
        }
    }

    /** Whether a plan was abandoned, so that the cell takes no more events. */
    boolean isAbandoned() {
        return isAbandoned;
    }

    /** Ends a random running workload. Returns the CPU time to the decision. */
    long nextEnd() {
        nowMillis += MILLIS_BETWEEN_EVENTS;
        return shell.event(List.of(shell.end(shell.anyRunning(random))), nowMillis, NEVER);
    }

    /** Applies changes and plans. Returns the CPU time of both. */
    long change(List<Change> changes) {
        nowMillis += MILLIS_BETWEEN_EVENTS;
        return shell.event(changes, nowMillis, NEVER);
    }

    /** Lets all victims leave, with plans until nothing more is decided. */
    void settle() {
        boolean end = false;
        for (int plan = 0; plan < MOST_PLANS && !end; plan++) {
            shell.apply(shell.allLeave(nowMillis));
            end = shell.plan(nowMillis, NEVER).decisions().isEmpty() && !shell.anyLeaving();
        }
    }

    Random random() {
        return random;
    }

    /** CPU times of forks of the engine. */
    Samples forks(int count) {
        Samples samples = new Samples();
        for (int i = 0; i < count; i++) {
            long from = CellShell.cpuNanos();
            shell.engine().fork();
            samples.add(CellShell.cpuNanos() - from);
        }
        return samples;
    }
}
