package io.quartermaster.client.documents;

import io.quartermaster.client.connection.ServiceConnection;
import io.quartermaster.client.connection.ServiceReply;
import io.quartermaster.client.documents.PlannedChange.Action;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.ExitStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Makes the changes of a plan, kind by kind. A change for which reservations leave no room yet is tried again after the
 * others of its kind. Any other failure ends the execution.
 */
final class PlanExecution {

    private final ServiceConnection service;
    private final ChangePlanner planner;
    private final boolean stopWork;
    private final List<PlannedChange> made = new ArrayList<>();
    private final List<PlannedChange> open = new ArrayList<>();
    private @Nullable Failure failure;

    /** @param code the code of the problem; empty if the command itself refused */
    record Failure(PlannedChange change, String code, CommandFailure cause) {

        boolean mayPass() {
            return code.equals(ChangePlanner.SUMS);
        }
    }

    PlanExecution(ServiceConnection service, ChangePlanner planner, boolean stopWork) {
        this.service = service;
        this.planner = planner;
        this.stopWork = stopWork;
    }

    List<PlannedChange> made() {
        return made;
    }

    /** The changes that were not made, in their order. */
    List<PlannedChange> open() {
        return open;
    }

    @Nullable
    Failure failure() {
        return failure;
    }

    /** @param report receives each change when it is made */
    void run(List<PlannedChange> plan, Consumer<PlannedChange> report) {
        plan.stream().filter(change -> change.action() != Action.NONE).forEach(open::add);
        while (!open.isEmpty() && failure == null) {
            ObjectKind kind = open.getFirst().kind();
            kind.refresh();
            List<PlannedChange> ofKind =
                    open.stream().filter(change -> change.kind().equals(kind)).toList();
            runRound(ofKind, report);
            boolean progress = !open.containsAll(ofKind);
            if (failure != null && failure.mayPass() && progress) {
                failure = null;
            }
        }
    }

    private void runRound(List<PlannedChange> changes, Consumer<PlannedChange> report) {
        for (PlannedChange change : changes) {
            Optional<Failure> failed = make(change);
            if (failed.isEmpty()) {
                open.remove(change);
                made.add(change);
                report.accept(change);
            } else {
                failure = failed.get();
                if (!failed.get().mayPass()) {
                    return;
                }
            }
        }
    }

    private Optional<Failure> make(PlannedChange planned) {
        try {
            PlannedChange change = current(planned);
            return change.action() == Action.NONE ? Optional.empty() : send(change);
        } catch (CommandFailure e) {
            return Optional.of(new Failure(planned, "", e));
        }
    }

    /** The change with a check that counts now: what was made since the plan may alter the effects on work. */
    private PlannedChange current(PlannedChange planned) {
        if (planned.check() instanceof ServiceCheck.Deferred) {
            return planner.renew(planned);
        }
        boolean affected = !made.isEmpty() && planned.kind().touchesWaitingWork();
        return affected ? planner.recheck(planned) : planned;
    }

    private Optional<Failure> send(PlannedChange change) {
        if (change.check() instanceof ServiceCheck.Refused refused) {
            return Optional.of(new Failure(change, refused.code(), refused.failure()));
        }
        boolean cancels = false;
        if (change.check() instanceof ServiceCheck.Accepted accepted) {
            if (!stopWork && !accepted.stops().isEmpty()) {
                return Optional.of(new Failure(
                        change,
                        "",
                        new CommandFailure(
                                ExitStatus.REFUSED,
                                String.join("; ", accepted.stops()) + ". Give --stop-work if you mean it")));
            }
            cancels = accepted.cancelsWaiting();
        }
        ServiceReply reply = planner.send(change, cancels ? Map.of("onWaiting", "cancel") : Map.of());
        if (!reply.isOk()) {
            return Optional.of(new Failure(change, reply.code(), explained(reply)));
        }
        change.kind().complete(service, change.object(), reply.body());
        return Optional.empty();
    }

    private static CommandFailure explained(ServiceReply reply) {
        CommandFailure refusal = ServiceConnection.failure(reply);
        return reply.status() == 412
                ? new CommandFailure(
                        refusal.status(),
                        "it was changed after the plan was made; run the command again",
                        List.of(),
                        refusal.requestId())
                : refusal;
    }
}
