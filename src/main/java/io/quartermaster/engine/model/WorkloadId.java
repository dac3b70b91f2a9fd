package io.quartermaster.engine.model;

/** Names one workload for as long as it is known to the engine. */
public record WorkloadId(String value) implements Comparable<WorkloadId> {

    public WorkloadId {
        if (value.isEmpty()) {
            throw new IllegalArgumentException("a workload id must not be empty");
        }
    }

    @Override
    public int compareTo(WorkloadId other) {
        return value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return value;
    }
}
