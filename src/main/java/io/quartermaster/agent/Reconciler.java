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
    sealed interface LocalState {
        /** The attempt is recorded and has not ended. */
        record Live(Optional<StopRequest> stop, long graceMillis, PauseStatus pauseStatus) implements LocalState {
            boolean isPaused() {
                return stop.isEmpty() && pauseStatus == PauseStatus.PAUSED;
            }
        }

        /** The attempt has ended and is not forgotten yet. */
        record Ended() implements LocalState {}

        /** Only the id of the attempt is left, so that it never starts again. */
        record Forgotten() implements LocalState {}
    }

    /** Whether an attempt is paused, or could be. */
    enum PauseStatus {
        CANNOT_PAUSE,
        CAN_PAUSE,
        PAUSE_REQUESTED,
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
     * @param maxPaused the most attempts that are paused at a time
     * @param nowMillis the time on the boot clock, from which graces are counted
     */
    static List<Action> decide(
            Collection<AttemptOrder> orders,
            @Nullable Collection<UUID> paused,
            Collection<UUID> forget,
            SortedMap<UUID, LocalState> locals,
            int maxPaused,
            long nowMillis) {
        List<Action> actions = new ArrayList<>();
        Set<UUID> ordered = new HashSet<>();
        long pausedCount =
                locals.values().stream().filter(Reconciler::isPausedOrPausing).count();
        for (AttemptOrder order : orders) {
            if (ordered.add(order.attemptId())) {
                Optional<LocalState> local = Optional.ofNullable(locals.get(order.attemptId()));
                UUID before = order.resumes();
                Optional<Action> action;
                if (local.isEmpty() && before != null && locals.get(before) instanceof LocalState.Live live) {
                    ordered.add(before);
                    action = resumeOrStop(order, before, live, nowMillis);
                } else {
                    action = actionFor(order, local, pausedCount < maxPaused, nowMillis);
                }
                pausedCount += action.filter(Action.Pause.class::isInstance).isPresent() ? 1 : 0;
                action.ifPresent(actions::add);
            }
        }
        Set<UUID> acknowledged = Set.copyOf(new HashSet<>(forget));
        Set<UUID> stayingPaused = paused == null ? Set.of() : Set.copyOf(new HashSet<>(paused));
        locals.forEach((id, local) -> {
            boolean stays = local instanceof LocalState.Live live
                    && live.pauseStatus() == PauseStatus.PAUSED
                    && (paused == null || stayingPaused.contains(id));
            if (!ordered.contains(id) && !stays) {
                endUnordered(id, local, acknowledged.contains(id), nowMillis).ifPresent(actions::add);
            }
        });
        return List.copyOf(actions);
    }

    private static boolean isPausedOrPausing(LocalState local) {
        return local instanceof LocalState.Live live
                && live.stop().isEmpty()
                && (live.pauseStatus() == PauseStatus.PAUSED || live.pauseStatus() == PauseStatus.PAUSE_REQUESTED);
    }

    /**
     * Takes over the paused attempt. While a process of it lives, its workload neither starts nor ends in any other
     * way: the processes continue as the new attempt, or end first.
     */
    private static Optional<Action> resumeOrStop(
            AttemptOrder order, UUID paused, LocalState.Live live, long nowMillis) {
        return switch (order.desired()) {
            case Desired.Run(), Desired.Pause(long _) ->
                live.isPaused() ? Optional.of(new Action.Resume(order, paused)) : Optional.empty();
            case Desired.Stop(StopReason reason, long graceMillis) ->
                stop(paused, live, reason, graceMillis, nowMillis);
        };
    }

    /** @param mayPause whether one more attempt may be paused */
    private static Optional<Action> actionFor(
            AttemptOrder order, Optional<LocalState> local, boolean mayPause, long nowMillis) {
        if (local.isEmpty()) {
            return Optional.of(
                    switch (order.desired()) {
                        case Desired.Run() -> new Action.Start(order);
                        case Desired.Stop(StopReason reason, long _) -> refuseStopped(order, reason);
                        case Desired.Pause(long _) -> refuseStopped(order, StopReason.PREEMPTED);
                    });
        }
        return switch (local.get()) {
            case LocalState.Live live ->
                switch (order.desired()) {
                    case Desired.Run() -> Optional.empty(); // A stop is never taken back.
                    case Desired.Stop(StopReason reason, long graceMillis) ->
                        stop(order.attemptId(), live, reason, graceMillis, nowMillis);
                    case Desired.Pause(long graceMillis) ->
                        pause(order.attemptId(), live, mayPause, graceMillis, nowMillis);
                };
            case LocalState.Ended() -> Optional.empty(); // It stays until the service has processed its end.
            case LocalState.Forgotten() ->
                Optional.of(new Action.Refuse(order, Outcome.LOST, "it was here before, and ended"));
        };
    }

    private static Action refuseStopped(AttemptOrder order, StopReason reason) {
        return new Action.Refuse(order, reason.outcome(), "stopped before it was started");
    }

    private static Optional<Action> pause(
            UUID id, LocalState.Live live, boolean mayPause, long graceMillis, long nowMillis) {
        if (live.stop().isPresent()) {
            return Optional.empty();
        }
        return switch (live.pauseStatus()) {
            case PAUSE_REQUESTED, PAUSED -> Optional.empty();
            case CAN_PAUSE ->
                mayPause
                        ? Optional.of(new Action.Pause(new PauseRequest(id, graceMillis, nowMillis + graceMillis)))
                        : stop(id, live, StopReason.PREEMPTED, graceMillis, nowMillis);
            case CANNOT_PAUSE -> stop(id, live, StopReason.PREEMPTED, graceMillis, nowMillis);
        };
    }

    private static Optional<Action> endUnordered(UUID id, LocalState local, boolean acknowledged, long nowMillis) {
        return switch (local) {
            case LocalState.Live live when live.stop().isPresent() -> Optional.empty();
            case LocalState.Live live -> stop(id, live, StopReason.GIVEN_UP, live.graceMillis(), nowMillis);
            case LocalState.Ended() -> acknowledged ? Optional.of(new Action.Forget(id)) : Optional.empty();
            case LocalState.Forgotten() -> Optional.empty();
        };
    }

    /**
     * Stops the attempt. Every reply repeats the request; only another reason or an earlier deadline changes it. If no
     * grace is left, the request arrived late, after an outage: the work then has the whole grace from now on, so that
     * its abort callback runs.
     */
    private static Optional<Action> stop(
            UUID id, LocalState.Live live, StopReason reason, long graceMillis, long nowMillis) {
        boolean late = graceMillis == 0;
        long grace = late && live.stop().isEmpty() ? live.graceMillis() : graceMillis;
        StopRequest request = new StopRequest(reason, grace, nowMillis + grace);
        boolean changesRequest = live.stop()
                .map(before -> before.reason() != reason || !late && request.deadlineMillis() < before.deadlineMillis())
                .orElse(true);
        return changesRequest ? Optional.of(new Action.Stop(id, request)) : Optional.empty();
    }
}
