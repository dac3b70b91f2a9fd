package io.quartermaster.engine.model;

/** Names a capacity reservation. */
public record CapacityReservationId(String value) implements Comparable<CapacityReservationId> {

    public CapacityReservationId {
        if (value.isEmpty()) {
            throw new IllegalArgumentException("a capacity reservation has an id");
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
