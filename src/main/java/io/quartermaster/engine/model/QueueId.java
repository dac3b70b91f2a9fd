package io.quartermaster.engine.model;

/** Id of a queue. */
public record QueueId(String value) implements Comparable<QueueId> {

    public QueueId {
        if (value.isEmpty()) {
            throw new IllegalArgumentException("a queue id must not be empty");
        }
    }

    @Override
    public int compareTo(QueueId other) {
        return value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return value;
    }
}
