package io.quartermaster.engine.model;

/** Id of a capacity reservation. */
public record CapacityReservationId(String value) implements Comparable<CapacityReservationId> {

    public CapacityReservationId {
        if (value.isEmpty()) {
            throw new IllegalArgumentException("the id of a capacity reservation must not be empty");
        }
    }

    @Override
    public int compareTo(CapacityReservationId other) {
        return value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return value;
    }
}
