package io.quartermaster.engine.model;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A place in a quota tree: the tenant, then the segments of a group. Ordered by segment, so a parent comes before its
 * children.
 */
public final class QuotaPath implements Comparable<QuotaPath> {
    private final List<String> segments;
    /** Worked out once: paths are what the engine looks up most. */
    private final int hash;

    public QuotaPath(List<String> segments) {
        this.segments = List.copyOf(segments);
        this.hash = hash(this.segments);
        if (segments.isEmpty()) {
            throw new IllegalArgumentException("a quota path begins with a tenant");
        }
        for (String segment : segments) {
            if (segment.isEmpty()) {
                throw new IllegalArgumentException("a quota path has no empty segment");
            }
        }
    }

    /** Names that differ in a digit or two are what paths are made of; a list's own hash is the same for many of these. */
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

    /** The group as its tenant writes it, such as {@code /research/nlp}; {@code /} for the tenant itself. */
    public String group() {
        return "/" + String.join("/", segments.subList(1, segments.size()));
    }

    public String last() {
        return segments.getLast();
    }

    /** The path itself and all above it, the tenant first. */
    public List<QuotaPath> fromTenant() {
        List<QuotaPath> paths = new ArrayList<>(segments.size());
        for (int length = 1; length <= segments.size(); length++) {
            paths.add(length == segments.size() ? this : new QuotaPath(segments.subList(0, length)));
        }
        return Collections.unmodifiableList(paths);
    }

    /** Whether the other path is this one or lies under it. */
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
