package io.quartermaster.ledger;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;

/**
 * A value over time. Each entry holds until the next entry's instant, and the last one without end; there is no value
 * before the first entry. Adjacent entries always differ and no entry has length 0. So two timelines with the same
 * values have equal entries, and each stretch between two entries is as long as possible.
 */
final class Timeline<V> {
    /** The value from an instant on. */
    record Entry<V>(long fromMillis, V value) {}

    /** Receives the stretches of a timeline, each {@code [fromMillis, toMillis)}. */
    interface StretchConsumer<V> {
        void accept(long fromMillis, long toMillis, V value);
    }

    private final List<Entry<V>> entries = new ArrayList<>();

    /** Sets the value from {@code atMillis} on and drops all later entries. */
    void set(long atMillis, V value) {
        while (!entries.isEmpty() && entries.getLast().fromMillis() >= atMillis) {
            entries.removeLast();
        }
        if (entries.isEmpty() || !entries.getLast().value().equals(value)) {
            entries.add(new Entry<>(atMillis, value));
        }
    }

    /** Drops all entries before {@code atMillis}; the value at that instant begins there. */
    void dropBefore(long atMillis) {
        int kept = 0;
        while (kept + 1 < entries.size() && entries.get(kept + 1).fromMillis() <= atMillis) {
            kept++;
        }
        entries.subList(0, kept).clear();
        if (!entries.isEmpty() && entries.getFirst().fromMillis() < atMillis) {
            entries.set(0, new Entry<>(atMillis, entries.getFirst().value()));
        }
    }

    /** Passes on the stretches that begin before {@code untilMillis}, in order; the last one is cut there. */
    void forEachUntil(long untilMillis, StretchConsumer<? super V> consumer) {
        for (int i = 0; i < entries.size(); i++) {
            long from = entries.get(i).fromMillis();
            long next = i + 1 < entries.size() ? entries.get(i + 1).fromMillis() : untilMillis;
            long to = Math.min(next, untilMillis);
            if (from < to) {
                consumer.accept(from, to, entries.get(i).value());
            }
        }
    }

    /** Combines two timelines, beginning at the later of their beginnings. */
    static <A, B, R> Timeline<R> merge(Timeline<A> left, Timeline<B> right, BiFunction<A, B, R> both) {
        Timeline<R> merged = new Timeline<>();
        int l = 0;
        int r = 0;
        while (l < left.entries.size() && r < right.entries.size()) {
            Entry<A> a = left.entries.get(l);
            Entry<B> b = right.entries.get(r);
            merged.set(Math.max(a.fromMillis(), b.fromMillis()), both.apply(a.value(), b.value()));
            long leftEnds = left.endOf(l);
            long rightEnds = right.endOf(r);
            l += leftEnds <= rightEnds ? 1 : 0;
            r += rightEnds <= leftEnds ? 1 : 0;
        }
        return merged;
    }

    private long endOf(int index) {
        return index + 1 < entries.size() ? entries.get(index + 1).fromMillis() : Long.MAX_VALUE;
    }

    boolean isEmpty() {
        return entries.isEmpty();
    }

    /** The last value, which holds without end. */
    V last() {
        return entries.getLast().value();
    }

    List<Entry<V>> entries() {
        return List.copyOf(entries);
    }
}
