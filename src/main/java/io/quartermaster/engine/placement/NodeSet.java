package io.quartermaster.engine.placement;

import java.util.Arrays;

/** A set of positions in a list of nodes, in order. A summary above the bits makes the next position cheap to find. */
final class NodeSet {
    private static final int BITS = 6;

    private long[] words = new long[1];
    private long[] summary = new long[1];
    private int size;

    boolean isEmpty() {
        return size == 0;
    }

    void add(int position) {
        int word = position >> BITS;
        if (word >= words.length) {
            words = Arrays.copyOf(words, Math.max(word + 1, words.length * 2));
            summary = Arrays.copyOf(summary, (words.length >> BITS) + 1);
        }
        size += (words[word] >>> position & 1) == 0 ? 1 : 0;
        words[word] |= 1L << position;
        summary[word >> BITS] |= 1L << word;
    }

    void remove(int position) {
        int word = position >> BITS;
        if (word < words.length && (words[word] >>> position & 1) != 0) {
            size--;
            words[word] &= ~(1L << position);
            if (words[word] == 0) {
                summary[word >> BITS] &= ~(1L << word);
            }
        }
    }

    /** The first position at or after the given one; -1 if there is none. */
    int next(int from) {
        int word = from >> BITS;
        if (word >= words.length) {
            return -1;
        }
        long rest = words[word] & (-1L << from);
        if (rest != 0) {
            return (word << BITS) + Long.numberOfTrailingZeros(rest);
        }
        int group = (word + 1) >> BITS;
        if (group >= summary.length) {
            return -1;
        }
        long groups = summary[group] & (-1L << (word + 1));
        while (groups == 0) {
            if (++group == summary.length) {
                return -1;
            }
            groups = summary[group];
        }
        int found = (group << BITS) + Long.numberOfTrailingZeros(groups);
        return (found << BITS) + Long.numberOfTrailingZeros(words[found]);
    }
}
