package io.quartermaster.engine.model;

/** Id of a profile, which the orders of pools and profiles refer to. */
public record ProfileId(String value) implements Comparable<ProfileId> {

    public ProfileId {
        if (value.isEmpty()) {
            throw new IllegalArgumentException("a profile id must not be empty");
        }
    }

    @Override
    public int compareTo(ProfileId other) {
        return value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return value;
    }
}
