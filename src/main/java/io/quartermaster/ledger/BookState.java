package io.quartermaster.ledger;

import java.util.List;
import java.util.OptionalLong;

/**
 * All a book knows, as plain values that can be written down and read back. With it, what is closed is never computed
 * again: {@link Book#resume} and the events after {@code (atMillis, seq)} give the same book as the whole stream.
 *
 * <p>Lists are sorted by id, levels by time; the same book always gives an equal state.
 *
 * @param format the version of this shape, {@link #FORMAT}
 * @param hourMillis where segments are cut: at every multiple of it
 * @param closedUntilMillis segments before it were given out by {@link Book#close} and are final
 * @param atMillis the last event taken, with {@code seq}; (0, -1) before the first
 */
public record BookState(
        int format,
        TenantKey tenant,
        long hourMillis,
        long closedUntilMillis,
        long atMillis,
        long seq,
        List<PoolState> pools) {

    public static final int FORMAT = 1;

    /** The length of an hour outside of tests. */
    public static final long HOUR_MILLIS = 3_600_000;

    public BookState {
        if (format != FORMAT) {
            throw new IllegalArgumentException("book state of format " + format + ", this program reads " + FORMAT);
        }
        if (hourMillis <= 0 || closedUntilMillis < 0 || closedUntilMillis % hourMillis != 0) {
            throw new IllegalArgumentException(
                    "closedUntilMillis " + closedUntilMillis + " is not a full hour of " + hourMillis + " ms");
        }
        pools = List.copyOf(pools);
    }

    /** The state of a tenant of whom nothing is known. */
    public static BookState empty(TenantKey tenant, long hourMillis) {
        return new BookState(FORMAT, tenant, hourMillis, 0, 0, -1, List.of());
    }

    /** One pool: levels from the last closed hour on, and the allocations that are live or ended since. */
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

    /** A level that holds from an instant to the next level's. */
    public record Level(long fromMillis, long gpuMilli) {}

    /** What a policy has reserved in the pool. */
    public record PolicyState(PolicyId policy, List<Level> reserved) {
        public PolicyState {
            reserved = List.copyOf(reserved);
        }
    }

    /** An allocation, with its fill and its phase since the last closed hour. */
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

    /** The first thousandths of an allocation that are reserved, and within, from an instant on. */
    public record FillState(long fromMillis, long reservedGpuMilli, long withinGpuMilli) {}

    /** The phase from an instant on. */
    public record PhaseState(long fromMillis, Phase phase) {}
}
