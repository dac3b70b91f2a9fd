package io.quartermaster.ledger;

/**
 * Something that changes what a tenant holds or has reserved: the ledger's only input.
 *
 * <p>{@link #atMillis} is the stamp of the plan that decided it, in epoch milliseconds. The events of one tenant are one
 * stream, ordered by ({@code atMillis}, {@code seq}), and no two share that pair. Events of the same stamp happen
 * together: between them no time passes, so they leave no segment.
 *
 * <p>Amounts are levels that hold from the event on, not differences. A record checks what it can see alone; whether it
 * fits the stream is the answer of {@link Book#apply}.
 */
public sealed interface UsageEvent {
    /** A billion GPUs: more than anybody has, and little enough that an hour of it fits a {@code long}. */
    long MAX_GPU_MILLI = 1_000_000_000_000L;

    long atMillis();

    long seq();

    TenantKey tenant();

    /** An allocation holds {@code gpuMilli} of the pool from now on, and is {@link Phase#STARTING}. */
    record Allocated(
            long atMillis,
            long seq,
            TenantKey tenant,
            AllocationId allocation,
            PoolKey pool,
            long gpuMilli,
            AllocationMarks marks)
            implements UsageEvent {
        public Allocated {
            requireStamp(atMillis, seq);
            requireLevel(gpuMilli);
            if (gpuMilli == 0) {
                throw new IllegalArgumentException("an allocation holds something, not gpuMilli 0");
            }
        }
    }

    /**
     * The allocation is in {@code phase} from {@code sinceMillis} on. {@link Phase#ENDED} and
     * {@link Phase#OUT_OF_CONTACT} may have begun before they are stated: what was known of the allocation since then is
     * replaced. They reach back to the allocation's start at most, and never into a closed hour.
     */
    record PhaseChanged(
            long atMillis, long seq, TenantKey tenant, AllocationId allocation, Phase phase, long sinceMillis)
            implements UsageEvent {
        public PhaseChanged {
            requireStamp(atMillis, seq);
            if (sinceMillis < 0 || sinceMillis > atMillis) {
                throw new IllegalArgumentException("sinceMillis " + sinceMillis + " is not in 0 .. " + atMillis);
            }
            if (sinceMillis < atMillis && !phase.mayReachBack()) {
                throw new IllegalArgumentException("only ENDED and OUT_OF_CONTACT may be back-dated, not " + phase);
            }
        }

        /** A change at its stamp, not before. */
        public PhaseChanged(long atMillis, long seq, TenantKey tenant, AllocationId allocation, Phase phase) {
            this(atMillis, seq, tenant, allocation, phase, atMillis);
        }
    }

    /** The allocation's devices are free; it is metered up to, and not including, this stamp. */
    record Freed(long atMillis, long seq, TenantKey tenant, AllocationId allocation) implements UsageEvent {
        public Freed {
            requireStamp(atMillis, seq);
        }
    }

    /** The tenant's reserved amount in the pool, capacity reservations included, is {@code gpuMilli} from now on. */
    record TenantReserved(long atMillis, long seq, TenantKey tenant, PoolKey pool, long gpuMilli)
            implements UsageEvent {
        public TenantReserved {
            requireStamp(atMillis, seq);
            requireLevel(gpuMilli);
        }
    }

    /** The policy's reserved amount in the pool is {@code gpuMilli} from now on; 0 when it is retired. */
    record PolicyReserved(long atMillis, long seq, TenantKey tenant, PolicyId policy, PoolKey pool, long gpuMilli)
            implements UsageEvent {
        public PolicyReserved {
            requireStamp(atMillis, seq);
            requireLevel(gpuMilli);
        }
    }

    /** Of what the tenant asked to have reserved in the pool, {@code gpuMilli} is not honoured from now on. */
    record Unmet(long atMillis, long seq, TenantKey tenant, PoolKey pool, long gpuMilli) implements UsageEvent {
        public Unmet {
            requireStamp(atMillis, seq);
            requireLevel(gpuMilli);
        }
    }

    private static void requireStamp(long atMillis, long seq) {
        if (atMillis < 0 || seq < 0) {
            throw new IllegalArgumentException("atMillis " + atMillis + " and seq " + seq + " must not be negative");
        }
    }

    private static void requireLevel(long gpuMilli) {
        if (gpuMilli < 0 || gpuMilli > MAX_GPU_MILLI) {
            throw new IllegalArgumentException("gpuMilli " + gpuMilli + " is not in 0 .. " + MAX_GPU_MILLI);
        }
    }
}
