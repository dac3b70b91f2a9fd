package io.quartermaster.ledger;

/**
 * What a book says to an event. A refused event changed nothing: the stream or the one who reads it is wrong, and going
 * on without it would make the books wrong too, so the caller must stop and say so.
 */
public sealed interface PostingResult {
    /** The event is in the book. */
    record Taken() implements PostingResult {}

    /** The event cannot be true after what the book knows. */
    sealed interface Refused extends PostingResult {
        UsageEvent event();

        /** One sentence for people. */
        String reason();
    }

    /** The event is not later in (atMillis, seq) than the last one taken: out of order, or delivered again. */
    record NotLater(UsageEvent event, long lastAtMillis, long lastSeq) implements Refused {
        @Override
        public String reason() {
            return "event (" + event.atMillis() + ", " + event.seq() + ") is not later than the last one taken, ("
                    + lastAtMillis + ", " + lastSeq + ")";
        }
    }

    /** The event, or the instant to which it is back-dated, lies in an hour that is closed. */
    record HourClosed(UsageEvent event, long effectiveMillis, long closedUntilMillis) implements Refused {
        @Override
        public String reason() {
            return "it would change " + effectiveMillis + ", and everything before " + closedUntilMillis + " is closed";
        }
    }

    /** The event is another tenant's. */
    record OtherTenant(UsageEvent event, TenantKey tenant) implements Refused {
        @Override
        public String reason() {
            return "an event of tenant " + event.tenant() + " in the book of tenant " + tenant;
        }
    }

    /** The allocation is in the book already. */
    record DuplicateAllocation(UsageEvent event, AllocationId allocation) implements Refused {
        @Override
        public String reason() {
            return "allocation " + allocation + " was allocated before";
        }
    }

    /** The allocation was never allocated, or is freed. */
    record UnknownAllocation(UsageEvent event, AllocationId allocation) implements Refused {
        @Override
        public String reason() {
            return "allocation " + allocation + " is not held";
        }
    }
}
