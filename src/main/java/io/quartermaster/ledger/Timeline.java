package io.quartermaster.ledger;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;

/**
 * A value over time: each entry holds from its instant to the next entry's, the last one without end; before the first
 * there is none. Neighbours always differ and no entry has length 0, so two timelines that say the same are equal entry
 * by entry, and a stretch between two entries is as long as it can be.
 */
final class Timeline<V> {
    /** The value from an instant on. */
    record Entry<V>(long fromMillis, V value) {}

    /** Takes one stretch, {@code [fromMillis, toMillis)}. */
    interface Stretches<V> {
        void stretch(long fromMillis, long toMillis, V value);
    }

    private final List<Entry<V>> entries = new ArrayList<>();

    /** States the value from {@code atMillis} on and forgets whatever was stated for later. */
    void set(long atMillis, V value) {
        while (!entries.isEmpty() && entries.getLast().fromMillis() >= atMillis) {
            entries.removeLast();
        }
        if (entries.isEmpty() || !entries.getLast().value().equals(value)) {
            entries.add(new Entry<>(atMillis, value));
        }
    }

    /** Forgets everything before {@code atMillis}; the value that held then begins there. */
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

    /** The stretches that begin before {@code untilMillis}, in order, the last one cut there. */
    void forEachUntil(long untilMillis, Stretches<? super V> taker) {
        for (int i = 0; i < entries.size(); i++) {
            long from = entries.get(i).fromMillis();
            long next = i + 1 < entries.size() ? entries.get(i + 1).fromMillis() : untilMillis;
            long to = Math.min(next, untilMillis);
            if (from < to) {
                taker.stretch(from, to, entries.get(i).value());
            }
        }
    }

    /** Both together, from where the later of them begins. */
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

    /** The value that holds at the end of what is known. */
    V last() {
        return entries.getLast().value();
    }

    List<Entry<V>> entries() {
        return List.copyOf(entries);
    }
}
