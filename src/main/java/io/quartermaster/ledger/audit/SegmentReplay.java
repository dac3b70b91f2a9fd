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
 * Makes segments anew from their events and compares them with those that were stored, field by field. The
 * {@link BookEquations} say that amounts are right whoever computed them; this says that they are also the right
 * allocation's and of the right phase.
 */
public final class SegmentReplay {
    private SegmentReplay() {}

    /** What replaying found. */
    public sealed interface Finding {}

    /** The stored segments are those of the events. */
    public record Same(int segments) implements Finding {}

    /** The first segment, in {@link Segment#ORDER}, that is on one side only. At least one of the two is there. */
    public record Differs(Optional<Segment> replayed, Optional<Segment> stored) implements Finding {}

    /** The events do not follow from the opening. */
    public record Stuck(PostingResult.Refused refused) implements Finding {}

    /**
     * Compares the hours after the opening.
     *
     * @param events all events after the opening that say something of these hours, in order
     * @param stored all segments of {@code [opening.closedUntilMillis(), hourEndMillis)}, in any order
     */
    public static Finding compare(
            BookState opening, List<UsageEvent> events, Collection<Segment> stored, long hourEndMillis) {
        Book book = Book.resume(opening);
        for (UsageEvent event : events) {
            if (book.apply(event) instanceof PostingResult.Refused refused) {
                return new Stuck(refused);
            }
        }
        List<Segment> replayed = book.close(hourEndMillis);
        Iterator<Segment> sorted = stored.stream().sorted(Segment.ORDER).iterator();
        for (Segment expected : replayed) {
            Optional<Segment> found = sorted.hasNext() ? Optional.of(sorted.next()) : Optional.empty();
            if (!found.equals(Optional.of(expected))) {
                return firstOf(expected, found);
            }
        }
        return sorted.hasNext() ? new Differs(Optional.empty(), Optional.of(sorted.next())) : new Same(replayed.size());
    }

    /** Two segments in one place differ; in two places, the earlier one has no counterpart. */
    private static Differs firstOf(Segment replayed, Optional<Segment> stored) {
        int order = stored.map(found -> Segment.ORDER.compare(replayed, found)).orElse(-1);
        return new Differs(
                order <= 0 ? Optional.of(replayed) : Optional.empty(), order >= 0 ? stored : Optional.empty());
    }
}
