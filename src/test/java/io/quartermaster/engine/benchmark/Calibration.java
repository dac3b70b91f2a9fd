package io.quartermaster.engine.benchmark;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** A fixed piece of plain work whose CPU time says how fast the machine is. */
final class Calibration {
    /** The CPU time of the work on the machine that the goals refer to. */
    private static final double REFERENCE_MILLIS = 100;

    private static final int ENTRIES = 200_000;
    private static final int ROUNDS = 9;

    private Calibration() {}

    /** How many times slower than the reference the machine is. */
    static double slowness() {
        Samples samples = new Samples();
        int kept = 0;
        for (int round = 0; round < ROUNDS; round++) {
            long from = CellShell.cpuNanos();
            kept += work();
            samples.add(CellShell.cpuNanos() - from);
        }
        if (kept != ROUNDS * ENTRIES) {
            throw new IllegalStateException("the work of the calibration differs between rounds");
        }
        return samples.medianMillis() / REFERENCE_MILLIS;
    }

    private static int work() {
        Random random = new Random(1);
        Map<Integer, Long> map = new HashMap<>();
        for (int i = 0; i < ENTRIES; i++) {
            map.put(i, random.nextLong());
        }
        List<Long> sorted = new ArrayList<>(map.values());
        Collections.sort(sorted);
        return sorted.size();
    }
}
