package io.quartermaster.workloads.logs;

import io.quartermaster.platform.http.ProblemException;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * How far a reader has read: for each worker of the newest attempt that it has read from, the number of bytes.
 *
 * @param offsets by worker
 */
record LogPosition(int attempt, SortedMap<Integer, Long> offsets) {

    private static final String ACCEPTED = "an id of an event received before, such as 1:0:4096";

    LogPosition {
        offsets = Collections.unmodifiableSortedMap(new TreeMap<>(offsets));
    }

    /**
     * Reads an id: {@code attempt:worker:offset}, with commas between several workers.
     *
     * @throws ProblemException 400 for a text that is not an id
     */
    static LogPosition parse(String id) {
        SortedMap<Integer, Long> offsets = new TreeMap<>();
        int attempt = 0;
        try {
            for (String part : id.strip().split(",", -1)) {
                String[] numbers = part.split(":", -1);
                int named = Integer.parseInt(numbers[0]);
                long offset = Long.parseLong(numbers[2]);
                if (numbers.length != 3 || named < 1 || attempt != 0 && named != attempt || offset < 0) {
                    throw new NumberFormatException(part);
                }
                attempt = named;
                offsets.put(Integer.parseInt(numbers[1]), offset);
            }
        } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
            throw ProblemException.invalid("Last-Event-ID", "is not an id of this stream", ACCEPTED);
        }
        return new LogPosition(attempt, offsets);
    }

    static @Nullable LogPosition parseOrNull(@Nullable String id) {
        return id == null || id.isBlank() ? null : parse(id);
    }

    String id() {
        return offsets.entrySet().stream()
                .map(entry -> attempt + ":" + entry.getKey() + ":" + entry.getValue())
                .collect(Collectors.joining(","));
    }
}
