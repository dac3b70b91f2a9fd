package io.quartermaster.engine.benchmark;

import io.quartermaster.dispatch.read.ShippedEngineSettings;
import io.quartermaster.engine.EngineSteps;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Plan;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.Random;

/** A representative cell that was filled from empty, with the cost of that; then it takes events. */
final class FilledCell {
    /** More plans of one moment than this mean that they come to no end. */
    private static final int MOST_PLANS = 10_000;

    private static final int MILLIS_BETWEEN_EVENTS = 100;

    private final RepresentativeCell cell;
    private final CellShell shell;
    private final Random random;
    private final int mostWaiting;
    private final int starts;
    private final int plans;
    private final long applyNanos;
    private final long prepareNanos;
    private final long planNanos;
    private final long firstPlanNanos;
    private final boolean complete;
    private OptionalLong lastPlanNanos = OptionalLong.empty();
    private long nowMillis = RepresentativeCell.BEGIN_MILLIS;

    private FilledCell(CellScale scale, CellVariant variant, Violations violations, long untilNanos) {
        cell = new RepresentativeCell(scale, variant);
        random = new Random(scale.seed() + 3);
        List<Change> base = cell.base();
        List<Change> queue = cell.queue();
        shell = new CellShell(variant.settings(ShippedEngineSettings.get()), violations);
        shell.apply(base);
        shell.apply(queue);
        shell.prepare();
        long first = 0;
        boolean end = false;
        try {
            while (!end) {
                long before = shell.cpuOfAllNanos();
                Plan plan = shell.plan(nowMillis, untilNanos);
                long took = shell.cpuOfAllNanos() - before;
                first = shell.plans() == 1 ? took : first;
                if (shell.anyLeaving()) {
                    shell.apply(shell.allLeave(nowMillis));
                } else if (plan.decisions().isEmpty() && !isDue(plan)) {
                    lastPlanNanos = OptionalLong.of(took);
                    end = true;
                }
                if (shell.plans() > MOST_PLANS) {
                    throw new IllegalStateException("the plans of one moment come to no end");
                }
            }
        } catch (EngineSteps.PlanAbandoned abandoned) {
            end = false;
        }
        complete = end;
        firstPlanNanos = first;
        starts = shell.starts();
        plans = shell.plans();
        applyNanos = shell.applyNanos();
        prepareNanos = shell.prepareNanos();
        planNanos = shell.planNanos();
        mostWaiting = shell.waiting();
    }

    private boolean isDue(Plan plan) {
        return plan.nextPlanAtMillis().isPresent() && plan.nextPlanAtMillis().getAsLong() <= nowMillis;
    }

    static FilledCell fill(CellScale scale, CellVariant variant, Violations violations, long untilNanos) {
        return new FilledCell(scale, variant, violations, untilNanos);
    }

    /** Whether the fill came to its end; otherwise its time was over, and the cell must not be used. */
    boolean complete() {
        return complete;
    }

    int starts() {
        return starts;
    }

    long cpuNanos() {
        return applyNanos + prepareNanos + planNanos;
    }

    double startsPerCpuSecond() {
        return starts / (cpuNanos() / 1e9);
    }

    /** The plan that ended the fill and decided nothing. */
    OptionalLong lastPlanNanos() {
        return lastPlanNanos;
    }

    String text() {
        return String.format(
                Locale.ROOT,
                "%,d starts, %,.0f per cpu-second (apply %.0f ms, prepare %.0f ms, %d plans %.0f ms, the first %.0f ms)",
                starts,
                startsPerCpuSecond(),
                applyNanos / 1e6,
                prepareNanos / 1e6,
                plans,
                planNanos / 1e6,
                firstPlanNanos / 1e6);
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
            shell.plan(nowMillis, Long.MAX_VALUE);
            samples.add(shell.cpuOfAllNanos() - before);
        }
        return samples;
    }

    /** Plans after news that can change nothing: a held workload comes, or goes. */
    Samples idlePlans(int count, long untilNanos) {
        Samples samples = new Samples();
        List<Change> leave = new ArrayList<>();
        for (int i = 0; i < count && System.nanoTime() < untilNanos; i++) {
            List<Change> change = leave.isEmpty()
                    ? List.of(new Change.WorkloadSet(cell.arrival(nowMillis).asHeld()))
                    : List.copyOf(leave);
            leave.clear();
            if (change.getFirst() instanceof Change.WorkloadSet(var workload)) {
                leave.add(new Change.WorkloadRemoved(workload.id()));
            }
            samples.add(shell.event(change, nowMillis, Long.MAX_VALUE));
        }
        if (!leave.isEmpty()) {
            shell.event(leave, nowMillis, Long.MAX_VALUE);
        }
        return samples;
    }

    /**
     * Takes the next event: a victim leaves, a workload arrives while fewer wait than after the fill, or else a running
     * one ends. Returns the CPU time to the decision.
     */
    long nextEvent() {
        nowMillis += MILLIS_BETWEEN_EVENTS;
        Change event = shell.anyLeaving()
                ? shell.nextLeaves(nowMillis)
                : shell.waiting() < mostWaiting || shell.running() == 0
                        ? new Change.WorkloadSet(cell.arrival(nowMillis))
                        : shell.end(shell.anyRunning(random));
        return shell.event(List.of(event), nowMillis, Long.MAX_VALUE);
    }
}
