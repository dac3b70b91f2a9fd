package io.quartermaster.engine.benchmark;

import java.util.Locale;
import java.util.OptionalLong;

/**
 * Cost of filling a cell, in CPU time.
 *
 * @param prepareNanos the building of the scheduling state, before the first plan
 * @param planNanos all plans
 * @param lastPlanNanos the plan that decided nothing; empty if the fill was abandoned before it
 */
record FillCost(
        int starts,
        int plans,
        long applyNanos,
        long prepareNanos,
        long planNanos,
        long firstPlanNanos,
        OptionalLong lastPlanNanos) {

    /** Whether the fill came to its end; otherwise its time was over, and the cell must not be used. */
    boolean isComplete() {
        return lastPlanNanos.isPresent();
    }

    long cpuNanos() {
        return applyNanos + prepareNanos + planNanos;
    }

    double startsPerCpuSecond() {
        return starts / (cpuNanos() / 1e9);
    }

    double microsPerStart() {
        return cpuNanos() / 1e3 / starts;
    }

    double lastPlanMillis() {
        return lastPlanNanos.orElseThrow() / 1e6;
    }

    /** All plans but the last, which decided nothing. */
    double decidingMillis() {
        return (planNanos - lastPlanNanos.orElseThrow()) / 1e6;
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
}
