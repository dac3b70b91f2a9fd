package io.quartermaster.engine.model;

import java.util.ArrayList;
import java.util.List;

/**
 * So many consecutive workers that are together: 0 to n-1 are the first slice, n to 2n-1 the second, and so on.
 *
 * @param workers of one slice
 * @param level each slice inside one domain of this topology level
 */
public record WorkerSlice(int workers, String level) {

    public WorkerSlice {
        if (workers < 1) {
            throw new IllegalArgumentException("a slice has at least one worker: " + workers);
        }
    }

    /**
     * Numbers, in their order, by the slice that they are in.
     *
     * @param first the number with which the first slice begins
     */
    public List<List<Integer>> split(List<Integer> numbers, int first) {
        List<List<Integer>> slices = new ArrayList<>();
        int current = -1;
        for (int number : numbers) {
            int slice = (number - first) / workers;
            if (slices.isEmpty() || slice != current) {
                slices.add(new ArrayList<>(workers));
                current = slice;
            }
            slices.getLast().add(number);
        }
        return slices;
    }
}
