package io.quartermaster.ledger.audit;

import io.quartermaster.ledger.Book;
import io.quartermaster.ledger.BookState;
import io.quartermaster.ledger.PostingResult;
import io.quartermaster.ledger.Segment;
import io.quartermaster.ledger.UsageEvent;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/**
 * Computes segments again from their events and compares them with the stored ones, field by field.
 * {@link BookEquations} checks the amounts independently of the code that computed them. This check shows that they
 * also belong to the right allocation and phase.
 */
public final class SegmentReplay {
    private SegmentReplay() {}

    /** The result of a replay. */
    public sealed interface Finding {}

    /** The stored segments equal those computed from the events. */
    public record Match(int segments) implements Finding {}

    /** The first segment, in {@link Segment#ORDER}, that only one side has. At least one of the two is present. */
    public record Mismatch(Optional<Segment> replayed, Optional<Segment> stored) implements Finding {}

    /** The events do not follow from the opening state. */
    public record RefusedEvent(PostingResult.Refused refused) implements Finding {}

    /**
     * Compares the hours after the opening.
     *
     * @param events all events after the opening that concern these hours, in order
     * @param stored all segments of {@code [opening.closedUntilMillis(), hourEndMillis)}, in any order
     */
    public static Finding compare(
            BookState opening, List<UsageEvent> events, Collection<Segment> stored, long hourEndMillis) {
        Book book = Book.resume(opening);
        for (UsageEvent event : events) {
            if (book.apply(event) instanceof PostingResult.Refused refused) {
                return new RefusedEvent(refused);
            }
        }
        List<Segment> replayed = book.close(hourEndMillis);
        Iterator<Segment> sorted = stored.stream().sorted(Segment.ORDER).iterator();
        for (Segment expected : replayed) {
            Optional<Segment> found = sorted.hasNext() ? Optional.of(sorted.next()) : Optional.empty();
            if (!found.equals(Optional.of(expected))) {
                return firstMismatch(expected, found);
            }
        }
        return sorted.hasNext()
                ? new Mismatch(Optional.empty(), Optional.of(sorted.next()))
                : new Match(replayed.size());
    }

    /** If both segments have the same position, both are reported; otherwise the earlier one has no counterpart. */
    private static Mismatch firstMismatch(Segment replayed, Optional<Segment> stored) {
        int order = stored.map(found -> Segment.ORDER.compare(replayed, found)).orElse(-1);
        return new Mismatch(
                order <= 0 ? Optional.of(replayed) : Optional.empty(), order >= 0 ? stored : Optional.empty());
    }
}
