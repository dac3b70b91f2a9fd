package io.quartermaster.engine.model;

import java.util.ArrayList;
import java.util.List;

/**
 * Slice of n consecutive workers that are placed together: 0 to n-1 are the first slice, n to 2n-1 the second, and so
 * on.
 *
 * @param workers the number of workers of one slice
 * @param level the topology level of which one domain must contain each slice
 */
public record WorkerSlice(int workers, String level) {

    public WorkerSlice {
        if (workers < 1) {
            throw new IllegalArgumentException("a slice must have at least one worker: " + workers);
        }
    }

    /**
     * Groups numbers by the slice that contains them, in their order.
     *
     * @param first the first number of the first slice
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
