package io.quartermaster.agent;

import io.quartermaster.agent.protocol.AttemptOrder;
import io.quartermaster.agent.protocol.AttemptOrder.Desired;
import io.quartermaster.agent.protocol.AttemptState.Outcome;
import io.quartermaster.agent.protocol.StopReason;
import io.quartermaster.agent.supervisor.AttemptFolder.PauseRequest;
import io.quartermaster.agent.supervisor.AttemptFolder.StopRequest;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Derives the actions that bring the node from its actual state to the desired state. Pure: the same input gives the
 * same actions.
 */
final class Reconciler {
    private Reconciler() {}

    /** The record of an attempt on disk. */
    sealed interface Local {
        /** The attempt is recorded and has not ended. */
        record Live(Optional<StopRequest> stop, long graceMillis, Standing standing) implements Local {
            boolean keepsStill() {
                return stop.isEmpty() && standing == Standing.PAUSED;
            }
        }

        /** The attempt has ended and is not forgotten yet. */
        record Over() implements Local {}

        /** Only the id of the attempt is left, so that it never starts again. */
        record Forgotten() implements Local {}
    }

    /** Whether an attempt is paused, or could be. */
    enum Standing {
        CANNOT_PAUSE,
        CAN_PAUSE,
        IS_ASKED_TO,
        PAUSED
    }

    /** One action of the agent. */
    sealed interface Action {
        /** Record the attempt and start it. */
        record Start(AttemptOrder order) implements Action {}

        /** Record the attempt as ended, without ever starting it. */
        record Refuse(AttemptOrder order, Outcome outcome, String detail) implements Action {}

        /** Ask its supervisor to end it. */
        record Stop(UUID attemptId, StopRequest request) implements Action {}

        /** Ask its supervisor to pause it. */
        record Pause(PauseRequest request) implements Action {}

        /** Record that the attempt owns the processes of a paused one, and let them continue. */
        record Resume(AttemptOrder order, UUID paused) implements Action {}

        /** Delete everything of an ended attempt except its id. */
        record Forget(UUID attemptId) implements Action {}
    }

    /**
     * The actions for the orders, in their order, and then those for all other attempts, by id.
     *
     * @param paused the paused attempts that stay; null if the service stated none, and then all stay
     * @param mostPaused the most attempts that are paused at a time
     * @param nowMillis the time on the boot clock, from which graces are counted
     */
    static List<Action> decide(
            Collection<AttemptOrder> orders,
            @Nullable Collection<UUID> paused,
            Collection<UUID> forget,
            SortedMap<UUID, Local> locals,
            int mostPaused,
            long nowMillis) {
        List<Action> actions = new ArrayList<>();
        Set<UUID> ordered = new HashSet<>();
        long standing =
                locals.values().stream().filter(Reconciler::standsOrWill).count();
        for (AttemptOrder order : orders) {
            if (ordered.add(order.attemptId())) {
                Optional<Local> local = Optional.ofNullable(locals.get(order.attemptId()));
                UUID before = order.resumes();
                Optional<Action> action;
                if (local.isEmpty() && before != null && locals.get(before) instanceof Local.Live live) {
                    ordered.add(before);
                    action = takeOver(order, before, live, nowMillis);
                } else {
                    action = carryOut(order, local, standing < mostPaused, nowMillis);
                }
                standing += action.filter(Action.Pause.class::isInstance).isPresent() ? 1 : 0;
                action.ifPresent(actions::add);
            }
        }
        Set<UUID> takenIn = Set.copyOf(new HashSet<>(forget));
        Set<UUID> staying = paused == null ? Set.of() : Set.copyOf(new HashSet<>(paused));
        locals.forEach((id, local) -> {
            boolean stays = local instanceof Local.Live live
                    && live.standing() == Standing.PAUSED
                    && (paused == null || staying.contains(id));
            if (!ordered.contains(id) && !stays) {
                endUnordered(id, local, takenIn.contains(id), nowMillis).ifPresent(actions::add);
            }
        });
        return List.copyOf(actions);
    }

    private static boolean standsOrWill(Local local) {
        return local instanceof Local.Live live
                && live.stop().isEmpty()
                && (live.standing() == Standing.PAUSED || live.standing() == Standing.IS_ASKED_TO);
    }

    /**
     * Takes over the paused attempt. While a process of it lives, its workload neither starts nor ends in any other
     * way: the processes continue as the new attempt, or end first.
     */
    private static Optional<Action> takeOver(AttemptOrder order, UUID paused, Local.Live live, long nowMillis) {
        return switch (order.desired()) {
            case Desired.Run(), Desired.Pause(long _) ->
                live.keepsStill() ? Optional.of(new Action.Resume(order, paused)) : Optional.empty();
            case Desired.Stop(StopReason reason, long graceMillis) ->
                stop(paused, live, reason, graceMillis, nowMillis);
        };
    }

    /** @param mayPause whether one more attempt may be paused */
    private static Optional<Action> carryOut(
            AttemptOrder order, Optional<Local> local, boolean mayPause, long nowMillis) {
        if (local.isEmpty()) {
            return Optional.of(
                    switch (order.desired()) {
                        case Desired.Run() -> new Action.Start(order);
                        case Desired.Stop(StopReason reason, long _) -> notStarted(order, reason);
                        case Desired.Pause(long _) -> notStarted(order, StopReason.PREEMPTED);
                    });
        }
        return switch (local.get()) {
            case Local.Live live ->
                switch (order.desired()) {
                    case Desired.Run() -> Optional.empty(); // A stop is never taken back.
                    case Desired.Stop(StopReason reason, long graceMillis) ->
                        stop(order.attemptId(), live, reason, graceMillis, nowMillis);
                    case Desired.Pause(long graceMillis) ->
                        pause(order.attemptId(), live, mayPause, graceMillis, nowMillis);
                };
            case Local.Over() -> Optional.empty(); // It stays until the service has processed its end.
            case Local.Forgotten() ->
                Optional.of(new Action.Refuse(order, Outcome.LOST, "it was here before, and ended"));
        };
    }

    private static Action notStarted(AttemptOrder order, StopReason reason) {
        return new Action.Refuse(order, reason.outcome(), "stopped before it was started");
    }

    private static Optional<Action> pause(
            UUID id, Local.Live live, boolean mayPause, long graceMillis, long nowMillis) {
        if (live.stop().isPresent()) {
            return Optional.empty();
        }
        return switch (live.standing()) {
            case IS_ASKED_TO, PAUSED -> Optional.empty();
            case CAN_PAUSE ->
                mayPause
                        ? Optional.of(new Action.Pause(new PauseRequest(id, graceMillis, nowMillis + graceMillis)))
                        : stop(id, live, StopReason.PREEMPTED, graceMillis, nowMillis);
            case CANNOT_PAUSE -> stop(id, live, StopReason.PREEMPTED, graceMillis, nowMillis);
        };
    }

    private static Optional<Action> endUnordered(UUID id, Local local, boolean takenIn, long nowMillis) {
        return switch (local) {
            case Local.Live live when live.stop().isPresent() -> Optional.empty();
            case Local.Live live -> stop(id, live, StopReason.GIVEN_UP, live.graceMillis(), nowMillis);
            case Local.Over() -> takenIn ? Optional.of(new Action.Forget(id)) : Optional.empty();
            case Local.Forgotten() -> Optional.empty();
        };
    }

    /**
     * Stops the attempt. Every reply repeats the request; only another reason or an earlier deadline changes it. If no
     * grace is left, the request arrived late, after an outage: the work then has the whole grace from now on, so that
     * its abort callback runs.
     */
    private static Optional<Action> stop(
            UUID id, Local.Live live, StopReason reason, long graceMillis, long nowMillis) {
        boolean late = graceMillis == 0;
        long grace = late && live.stop().isEmpty() ? live.graceMillis() : graceMillis;
        StopRequest request = new StopRequest(reason, grace, nowMillis + grace);
        boolean saysMore = live.stop()
                .map(before -> before.reason() != reason || !late && request.deadlineMillis() < before.deadlineMillis())
                .orElse(true);
        return saysMore ? Optional.of(new Action.Stop(id, request)) : Optional.empty();
    }
}
