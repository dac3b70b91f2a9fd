package io.quartermaster.ledger;

/**
 * A book's answer to an event. A refused event changes nothing: either the stream or its reader is wrong. To continue
 * without the event would make the ledger wrong too, so the caller must stop and report the refusal.
 */
public sealed interface PostingResult {
    /** The event is applied. */
    record Posted() implements PostingResult {}

    /** The event contradicts the current state of the book. */
    sealed interface Refused extends PostingResult {
        UsageEvent event();

        /** The reason, as one sentence for operators. */
        String reason();
    }

    /** The event is not later in (atMillis, seq) than the last one applied: it is out of order, or a duplicate. */
    record NotLater(UsageEvent event, long lastAtMillis, long lastSeq) implements Refused {
        @Override
        public String reason() {
            return "event (" + event.atMillis() + ", " + event.seq() + ") is not later than the last applied event, ("
                    + lastAtMillis + ", " + lastSeq + ")";
        }
    }

    /** The event, or the instant to which it is back-dated, lies in a closed hour. */
    record HourClosed(UsageEvent event, long effectiveMillis, long closedUntilMillis) implements Refused {
        @Override
        public String reason() {
            return "the event would change usage at " + effectiveMillis + ", but everything before " + closedUntilMillis
                    + " is closed";
        }
    }

    /** The event belongs to another tenant. */
    record OtherTenant(UsageEvent event, TenantKey tenant) implements Refused {
        @Override
        public String reason() {
            return "an event of tenant " + event.tenant() + " was sent to the book of tenant " + tenant;
        }
    }

    /** The book already has the allocation. */
    record DuplicateAllocation(UsageEvent event, AllocationId allocation) implements Refused {
        @Override
        public String reason() {
            return "allocation " + allocation + " already exists";
        }
    }

    /** The book does not have the allocation, or it is freed. */
    record UnknownAllocation(UsageEvent event, AllocationId allocation) implements Refused {
        @Override
        public String reason() {
            return "allocation " + allocation + " is not live";
        }
    }
}
