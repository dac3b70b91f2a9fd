package io.quartermaster.capacity.grants;

import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/**
 * A window of the calendar in which an amount of a pool is a tenant's, or that of a group under one of its policies: it raises what is
 * reserved for the holder, and the holder's limit with it.
 *
 * @param policy the group's; absent = the tenant's as a whole
 * @param lendable whether others may use what of it is idle
 * @param startsAt its first moment
 * @param endsAt the first moment after it
 */
public record CapacityReservation(
        UUID id, UUID pool, Optional<UUID> policy, long gpuMilli, boolean lendable, Instant startsAt, Instant endsAt) {

    /** Where it is in time. */
    public enum State {
        PLANNED,
        OPEN,
        OVER
    }

    public CapacityReservation {
        if (gpuMilli <= 0 || !endsAt.isAfter(startsAt)) {
            throw new IllegalArgumentException("a capacity reservation is of some GPUs for some time");
        }
    }

    public State stateAt(Instant now) {
        if (now.isBefore(startsAt)) {
            return State.PLANNED;
        }
        return now.isBefore(endsAt) ? State.OPEN : State.OVER;
    }

    public boolean isOpenAt(Instant moment) {
        return stateAt(moment) == State.OPEN;
    }
}
