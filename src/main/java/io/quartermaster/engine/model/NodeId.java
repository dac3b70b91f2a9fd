package io.quartermaster.engine.model;

/** Id of a node, unique over all pools. */
public record NodeId(String value) implements Comparable<NodeId> {

    public NodeId {
        if (value.isEmpty()) {
            throw new IllegalArgumentException("a node id must not be empty");
        }
    }

    @Override
    public int compareTo(NodeId other) {
        return value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return value;
    }
}
