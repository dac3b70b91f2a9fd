package io.quartermaster.engine.model;

/** Id of a workload, unique among the workloads that the engine knows. */
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
