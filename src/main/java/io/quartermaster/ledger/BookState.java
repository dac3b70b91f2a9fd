package io.quartermaster.ledger;

import java.util.List;
import java.util.OptionalLong;

/**
 * The complete state of a book, as plain values that can be stored and read back. With it, closed hours are never
 * computed again: {@link Book#resume} and the events after {@code (atMillis, seq)} give the same book as the whole
 * stream.
 *
 * <p>Lists are sorted by id, levels by time; the same book always gives an equal state.
 *
 * @param format the version of this shape; it follows from the content, see {@link #of}
 * @param hourMillis the length of an hour; segments are cut at every multiple of it
 * @param closedUntilMillis {@link Book#close} has returned all segments before this instant; they are final
 * @param atMillis the time of the last event applied, with {@code seq}; (0, -1) before the first
 */
public record BookState(
        int format,
        TenantKey tenant,
        long hourMillis,
        long closedUntilMillis,
        long atMillis,
        long seq,
        List<PoolState> pools) {

    /** The version of a state in which no allocation has labels. */
    public static final int FIRST_FORMAT = 1;

    /** The version of a state in which an allocation has labels. */
    public static final int LABELLED_FORMAT = 2;

    /** The length of an hour outside of tests. */
    public static final long HOUR_MILLIS = 3_600_000;

    public BookState {
        if (format != formatOf(pools)) {
            throw new IllegalArgumentException(
                    "the book state has format " + format + ", but its content is of format " + formatOf(pools));
        }
        if (hourMillis <= 0 || closedUntilMillis < 0 || closedUntilMillis % hourMillis != 0) {
            throw new IllegalArgumentException(
                    "closedUntilMillis " + closedUntilMillis + " is not a full hour of " + hourMillis + " ms");
        }
        pools = List.copyOf(pools);
    }

    /** The state of a tenant without any events. */
    public static BookState empty(TenantKey tenant, long hourMillis) {
        return of(tenant, hourMillis, 0, 0, -1, List.of());
    }

    /** A state in the oldest format that can express it, so that an earlier version of the program may read it. */
    public static BookState of(
            TenantKey tenant, long hourMillis, long closedUntilMillis, long atMillis, long seq, List<PoolState> pools) {
        return new BookState(formatOf(pools), tenant, hourMillis, closedUntilMillis, atMillis, seq, pools);
    }

    private static int formatOf(List<PoolState> pools) {
        return pools.stream()
                        .flatMap(pool -> pool.allocations().stream())
                        .anyMatch(allocation -> allocation.marks().labels().hasKeys())
                ? LABELLED_FORMAT
                : FIRST_FORMAT;
    }

    /**
     * The state of one pool: levels since the last closed hour, and the allocations that are live or were freed since.
     */
    public record PoolState(
            PoolKey pool,
            List<Level> reserved,
            List<Level> idle,
            List<Level> unmet,
            List<PolicyState> policies,
            List<AllocationState> allocations) {
        public PoolState {
            reserved = List.copyOf(reserved);
            idle = List.copyOf(idle);
            unmet = List.copyOf(unmet);
            policies = List.copyOf(policies);
            allocations = List.copyOf(allocations);
        }
    }

    /** A level that holds from an instant until the next level begins. */
    public record Level(long fromMillis, long gpuMilli) {}

    /** The reserved amounts of a policy in the pool. */
    public record PolicyState(PolicyId policy, List<Level> reserved) {
        public PolicyState {
            reserved = List.copyOf(reserved);
        }
    }

    /** An allocation, with its fills and phases since the last closed hour. */
    public record AllocationState(
            AllocationId allocation,
            long gpuMilli,
            long startMillis,
            OptionalLong freedMillis,
            AllocationMarks marks,
            List<FillState> fills,
            List<PhaseState> phases) {
        public AllocationState {
            fills = List.copyOf(fills);
            phases = List.copyOf(phases);
        }
    }

    /** How many thousandths of an allocation, counted from its first, are reserved and within from an instant on. */
    public record FillState(long fromMillis, long reservedGpuMilli, long withinGpuMilli) {}

    /** The phase from an instant on. */
    public record PhaseState(long fromMillis, Phase phase) {}
}
