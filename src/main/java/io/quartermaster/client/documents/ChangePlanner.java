package io.quartermaster.client.documents;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.client.connection.ServiceConnection;
import io.quartermaster.client.connection.ServiceReply;
import io.quartermaster.client.documents.ObjectKind.Write;
import io.quartermaster.client.documents.PlannedChange.Action;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.DocumentWriter;
import io.quartermaster.client.output.ExitStatus;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Compares stated objects with those of the service, and asks the service for the effects of each change. */
final class ChangePlanner {

    /** The sums of several policies decide, so another change of the plan may make room. */
    static final String SUMS = "reservations-do-not-fit";

    private static final String WAITING = "work-is-waiting";

    private final ServiceConnection service;
    private final List<ObjectKind> kinds;

    /** @param kinds in the order in which their objects are made */
    ChangePlanner(ServiceConnection service, List<ObjectKind> kinds) {
        this.service = service;
        this.kinds = List.copyOf(kinds);
    }

    /** The objects in the order in which they are made. Fails if a kind is unknown, or an object is stated twice. */
    List<PlannedChange> plan(List<StatedObject> objects) {
        kinds.forEach(kind -> kind.prepare(objects));
        List<PlannedChange> plan = new ArrayList<>();
        Set<String> made = new HashSet<>();
        for (PlannedChange change : compared(ordered(objects))) {
            boolean rests = change.kind().needs(change.object()).stream().anyMatch(made::contains);
            PlannedChange checked = change.action() == Action.NONE
                    ? change
                    : change.checked(rests ? new ServiceCheck.Deferred() : check(change));
            if (checked.action() != Action.NONE) {
                made.add(checked.title());
            }
            plan.add(checked);
        }
        return withSumsDeferred(plan);
    }

    /** The change as it is now, with what the service says to it. */
    PlannedChange renew(PlannedChange change) {
        PlannedChange now = compare(change.kind(), change.object());
        return now.action() == Action.NONE ? now : now.checked(check(now));
    }

    /** The planned change, with what the service says to it now. */
    PlannedChange recheck(PlannedChange change) {
        return change.checked(check(change));
    }

    private List<PlannedChange> ordered(List<StatedObject> objects) {
        Set<String> seen = new HashSet<>();
        for (StatedObject object : objects) {
            ObjectKind kind = kind(object);
            if (!seen.add(kind.word() + " " + kind.label(object))) {
                throw CommandFailure.usage(
                        object.origin() + ": " + kind.word() + " " + kind.label(object) + " is stated twice");
            }
        }
        List<PlannedChange> ordered = new ArrayList<>();
        for (ObjectKind kind : kinds) {
            objects.stream()
                    .filter(object -> object.kind().equals(kind.word()))
                    .map(object -> unchanged(kind, object, null))
                    .forEach(ordered::add);
        }
        return ordered;
    }

    private ObjectKind kind(StatedObject object) {
        return kinds.stream()
                .filter(kind -> kind.word().equals(object.kind()))
                .findFirst()
                .orElseThrow(() -> CommandFailure.usage(object.origin() + ": \"" + object.kind()
                        + "\" is no kind of this command; accepted: "
                        + kinds.stream().map(ObjectKind::word).collect(Collectors.joining(", "))));
    }

    private List<PlannedChange> compared(List<PlannedChange> ordered) {
        return ordered.stream()
                .map(change -> compare(change.kind(), change.object()))
                .toList();
    }

    private PlannedChange compare(ObjectKind kind, StatedObject object) {
        Optional<PresentObject> present = kind.find(service, object);
        if (present.isEmpty()) {
            return new PlannedChange(
                    kind,
                    object,
                    Action.CREATE,
                    null,
                    DocumentWriter.JSON.createObjectNode(),
                    new ServiceCheck.Unneeded());
        }
        ObjectNode difference = kind.difference(object, present.get());
        return difference.isEmpty()
                ? unchanged(kind, object, present.get())
                : new PlannedChange(
                        kind, object, Action.CHANGE, present.get(), difference, new ServiceCheck.Unneeded());
    }

    private static PlannedChange unchanged(ObjectKind kind, StatedObject object, @Nullable PresentObject present) {
        return new PlannedChange(
                kind,
                object,
                Action.NONE,
                present,
                DocumentWriter.JSON.createObjectNode(),
                new ServiceCheck.Unneeded());
    }

    /** A refusal that depends on sums is no refusal of a plan that changes other objects of the kind. */
    private static List<PlannedChange> withSumsDeferred(List<PlannedChange> plan) {
        return plan.stream()
                .map(change -> {
                    boolean sums = change.check() instanceof ServiceCheck.Refused refused
                            && refused.code().equals(SUMS);
                    boolean others = plan.stream()
                            .anyMatch(other -> !other.equals(change)
                                    && other.kind().equals(change.kind())
                                    && other.action() != Action.NONE);
                    return sums && others ? change.checked(new ServiceCheck.Deferred()) : change;
                })
                .toList();
    }

    private ServiceCheck check(PlannedChange change) {
        ServiceReply reply = send(change, Map.of("dryRun", "true"));
        boolean cancels = reply.code().equals(WAITING) && change.kind().touchesWaitingWork();
        if (cancels) {
            Map<String, String> query = new LinkedHashMap<>();
            query.put("dryRun", "true");
            query.put("onWaiting", "cancel");
            reply = send(change, query);
        }
        if (!reply.isOk()) {
            CommandFailure failure = ServiceConnection.failure(reply);
            if (failure.status() == ExitStatus.NOT_SIGNED_IN || failure.status() == ExitStatus.UNAVAILABLE) {
                throw failure;
            }
            return new ServiceCheck.Refused(reply.code(), failure);
        }
        JsonNode effects = reply.body().path("effects");
        Set<String> warnings = new LinkedHashSet<>();
        reply.body().path("warnings").forEach(warning -> warnings.add(warning.asText()));
        effects.path("warnings").forEach(warning -> warnings.add(warning.asText()));
        List<String> drains = change.difference().findValues("drainBy").stream()
                .filter(JsonNode::isTextual)
                .map(JsonNode::asText)
                .toList();
        return new ServiceCheck.Accepted(effects, List.copyOf(warnings), drains, cancels);
    }

    /** Sends a change, with the version that was compared, and a key that makes a repetition safe. */
    ServiceReply send(PlannedChange change, Map<String, String> query) {
        PresentObject present = change.present();
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("Idempotency-Key", UUID.randomUUID().toString());
        Write write;
        if (present == null) {
            write = change.kind().creation(service, change.object());
        } else {
            write = change.kind().change(service, change.object(), change.difference());
            if (present.fields().has("version")) {
                headers.put("If-Match", present.etag());
            }
            if (write.method().equals("PATCH")) {
                headers.put("Content-Type", "application/merge-patch+json");
            }
        }
        return service.send(write.method(), write.path(), query, write.body(), headers);
    }
}
