package io.quartermaster.agent;

import io.quartermaster.agent.AttemptFolder.StopRequest;
import io.quartermaster.agent.protocol.AttemptOrder;
import io.quartermaster.agent.protocol.AttemptOrder.Desired;
import io.quartermaster.agent.protocol.AttemptState.Outcome;
import io.quartermaster.agent.protocol.StopReason;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.UUID;

/** What has to be done so that what is becomes what should be. Pure: the same input gives the same actions. */
final class Decision {
    private Decision() {}

    /** What the agent has on disk of an attempt. */
    sealed interface Local {
        /** Recorded and not ended. */
        record Live(Optional<StopRequest> stop, long graceMillis) implements Local {}

        /** Ended, and not forgotten yet. */
        record Over() implements Local {}

        /** Only the id is left, so that it is never started again. */
        record Forgotten() implements Local {}
    }

    /** One thing to do. */
    sealed interface Action {
        /** Record the attempt and start it. */
        record Start(AttemptOrder order) implements Action {}

        /** Record the attempt as ended, without ever starting it. */
        record Refuse(AttemptOrder order, Outcome outcome, String detail) implements Action {}

        /** Ask its supervisor to end it. */
        record Stop(UUID attemptId, StopRequest request) implements Action {}

        /** Delete what is left of an ended attempt, all but its id. */
        record Forget(UUID attemptId) implements Action {}
    }

    /**
     * Orders first, as listed, then by id what is not ordered.
     *
     * @param nowMillis on the boot clock, from which graces are counted
     */
    static List<Action> decide(
            Collection<AttemptOrder> orders, Collection<UUID> forget, SortedMap<UUID, Local> locals, long nowMillis) {
        List<Action> actions = new ArrayList<>();
        Set<UUID> ordered = new HashSet<>();
        for (AttemptOrder order : orders) {
            if (ordered.add(order.attemptId())) {
                carryOut(order, Optional.ofNullable(locals.get(order.attemptId())), nowMillis)
                        .ifPresent(actions::add);
            }
        }
        Set<UUID> takenIn = Set.copyOf(new HashSet<>(forget));
        locals.forEach((id, local) -> {
            if (!ordered.contains(id)) {
                endUnordered(id, local, takenIn.contains(id), nowMillis).ifPresent(actions::add);
            }
        });
        return List.copyOf(actions);
    }

    private static Optional<Action> carryOut(AttemptOrder order, Optional<Local> local, long nowMillis) {
        if (local.isEmpty()) {
            return Optional.of(
                    switch (order.desired()) {
                        case Desired.Run() -> new Action.Start(order);
                        case Desired.Stop(StopReason reason, long _) ->
                            new Action.Refuse(order, reason.outcome(), "stopped before it was started");
                    });
        }
        return switch (local.get()) {
            case Local.Live live ->
                switch (order.desired()) {
                    case Desired.Run() -> Optional.empty(); // A stop is never taken back.
                    case Desired.Stop(StopReason reason, long graceMillis) ->
                        stop(order.attemptId(), live, reason, graceMillis, nowMillis);
                };
            case Local.Over() -> Optional.empty(); // It is reported, and goes when the service has taken that in.
            case Local.Forgotten() ->
                Optional.of(new Action.Refuse(order, Outcome.LOST, "it was here before, and ended"));
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

    /** The same request comes with every reply; only another reason or an earlier deadline says anything new. */
    private static Optional<Action> stop(
            UUID id, Local.Live live, StopReason reason, long graceMillis, long nowMillis) {
        StopRequest request = new StopRequest(reason, graceMillis, nowMillis + graceMillis);
        boolean saysMore = live.stop()
                .map(before -> before.reason() != reason || request.deadlineMillis() < before.deadlineMillis())
                .orElse(true);
        return saysMore ? Optional.of(new Action.Stop(id, request)) : Optional.empty();
    }
}
