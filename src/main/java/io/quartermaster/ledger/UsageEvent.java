package io.quartermaster.ledger;

/**
 * A change of a tenant's held or reserved amounts: the ledger's only input.
 *
 * <p>{@link #atMillis} is the stamp of the plan that decided it, in epoch milliseconds. The events of one tenant form
 * one stream, ordered by ({@code atMillis}, {@code seq}); that pair is unique. Events with the same stamp happen at the
 * same time: no time passes between them, so they leave no segment.
 *
 * <p>Amounts are levels that hold from the event on, not differences. A record checks only its own values;
 * {@link Book#apply} checks whether the event fits the stream.
 */
public sealed interface UsageEvent {
    /** A billion GPUs: more than any deployment has, and few enough that an hour of them fits a {@code long}. */
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
                throw new IllegalArgumentException("gpuMilli of an allocation must be above 0");
            }
        }
    }

    /**
     * The allocation is in {@code phase} from {@code sinceMillis} on. {@link Phase#ENDED} and
     * {@link Phase#OUT_OF_CONTACT} may be back-dated; they replace all phases since then. They reach back to the
     * allocation's start at most, and never into a closed hour.
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

        /** A change that takes effect at its stamp. */
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

    /** The policy's reserved amount in the pool is {@code gpuMilli} from now on; 0 once the policy is retired. */
    record PolicyReserved(long atMillis, long seq, TenantKey tenant, PolicyId policy, PoolKey pool, long gpuMilli)
            implements UsageEvent {
        public PolicyReserved {
            requireStamp(atMillis, seq);
            requireLevel(gpuMilli);
        }
    }

    /** From now on {@code gpuMilli} of the tenant's requested reservation in the pool is not honoured. */
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
