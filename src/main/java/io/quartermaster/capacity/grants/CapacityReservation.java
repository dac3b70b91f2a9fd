package io.quartermaster.capacity.grants;

import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/**
 * A window of the calendar in which an amount of a pool belongs to a tenant, or to a group under one of its policies.
 * It raises the holder's reserved amount and limit.
 *
 * @param policy the group's; absent = the tenant's as a whole
 * @param lendable whether others may use the idle part of it
 * @param startsAt its first moment
 * @param endsAt the first moment after it
 */
public record CapacityReservation(
        UUID id, UUID pool, Optional<UUID> policy, long gpuMilli, boolean lendable, Instant startsAt, Instant endsAt) {

    /** The state, which follows from the time. */
    public enum State {
        PLANNED,
        OPEN,
        OVER
    }

    public CapacityReservation {
        if (gpuMilli <= 0 || !endsAt.isAfter(startsAt)) {
            throw new IllegalArgumentException("a capacity reservation needs GPUs above 0 and an end after its start");
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
