package io.quartermaster.engine.model;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Path of a node in a quota tree: the tenant, then the segments of a group. The order is by segment, so a parent comes
 * before its children.
 */
public final class QuotaPath implements Comparable<QuotaPath> {
    private final List<String> segments;
    /** Computed once, because the engine looks up paths more than anything else. */
    private final int hash;

    public QuotaPath(List<String> segments) {
        this.segments = List.copyOf(segments);
        this.hash = hash(this.segments);
        if (segments.isEmpty()) {
            throw new IllegalArgumentException("a quota path must begin with a tenant");
        }
        for (String segment : segments) {
            if (segment.isEmpty()) {
                throw new IllegalArgumentException("a quota path must not have an empty segment");
            }
        }
    }

    /**
     * Mixes the hashes of the segments. The segments of paths often differ in one or two digits only, and
     * {@link List#hashCode} has the same value for many such paths.
     */
    private static int hash(List<String> segments) {
        int mixed = 0;
        for (String segment : segments) {
            mixed = (mixed ^ segment.hashCode()) * 0x9E3779B1;
            mixed ^= mixed >>> 15;
        }
        return mixed;
    }

    public static QuotaPath of(String... segments) {
        return new QuotaPath(List.of(segments));
    }

    /** Reads the form {@code tenant/group/subgroup}. */
    public static QuotaPath parse(String text) {
        return new QuotaPath(List.of(text.split("/", -1)));
    }

    public List<String> segments() {
        return segments;
    }

    public String tenant() {
        return segments.getFirst();
    }

    /** The path of the group within the tenant, such as {@code /research/nlp}; {@code /} for the tenant itself. */
    public String group() {
        return "/" + String.join("/", segments.subList(1, segments.size()));
    }

    public String last() {
        return segments.getLast();
    }

    /** All paths from the tenant down to this path. */
    public List<QuotaPath> fromTenant() {
        List<QuotaPath> paths = new ArrayList<>(segments.size());
        for (int length = 1; length <= segments.size(); length++) {
            paths.add(length == segments.size() ? this : new QuotaPath(segments.subList(0, length)));
        }
        return Collections.unmodifiableList(paths);
    }

    /** Whether the other path is this path or is below it. */
    public boolean covers(QuotaPath other) {
        return other.segments.size() >= segments.size()
                && other.segments.subList(0, segments.size()).equals(segments);
    }

    @Override
    public int compareTo(QuotaPath other) {
        int shorter = Math.min(segments.size(), other.segments.size());
        for (int i = 0; i < shorter; i++) {
            int order = segments.get(i).compareTo(other.segments.get(i));
            if (order != 0) {
                return order;
            }
        }
        return Integer.compare(segments.size(), other.segments.size());
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return this == other
                || (other instanceof QuotaPath path && path.hash == hash && path.segments.equals(segments));
    }

    @Override
    public int hashCode() {
        return hash;
    }

    @Override
    public String toString() {
        return String.join("/", segments);
    }
}
