package io.quartermaster.workloads;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.access.Caller;
import io.quartermaster.access.Permission;
import io.quartermaster.access.audit.AuditLog;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.MergePatch;
import io.quartermaster.platform.http.Problem;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.writes.TenantWrites;
import io.quartermaster.platform.writes.WriteParams;
import io.quartermaster.platform.writes.WriteReply;
import io.quartermaster.workloads.WorkloadStore.Source;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.hibernate.reactive.mutiny.Mutiny;
import org.jspecify.annotations.Nullable;

/**
 * Changes waiting workloads: the queue, the priority, the maximum run time and the labels. A change passes the checks
 * of a submission for what it changes.
 *
 * <p>A change and a start by the leader exclude each other by the workload's row. A change that comes second finds a
 * state that is not waiting, and is refused. A start that comes second finds terms that its plan did not assume, and is
 * planned again ({@code PlanRows.workloadStarts}).
 */
@ApplicationScoped
class WorkloadEditor {

    private final TenantWrites tenantWrites;
    private final WorkloadService workloads;
    private final WorkloadStore store;
    private final QueueDirectory queues;
    private final SubmissionAdmission admission;
    private final AuditLog audit;
    private final ObjectMapper json;

    WorkloadEditor(
            TenantWrites tenantWrites,
            WorkloadService workloads,
            WorkloadStore store,
            QueueDirectory queues,
            SubmissionAdmission admission,
            AuditLog audit,
            ObjectMapper json) {
        this.tenantWrites = tenantWrites;
        this.workloads = workloads;
        this.store = store;
        this.queues = queues;
        this.admission = admission;
        this.audit = audit;
        this.json = json;
    }

    Uni<Response> update(
            TenantId tenant, Caller caller, UUID id, @Nullable String body, WriteParams params, UriInfo uri)
            throws JsonProcessingException {
        MergePatch patch = MergePatch.read(json, body, WorkloadApi.Patch.class);
        patch.requireValue("queue", "the name of a queue");
        return tenantWrites.run(
                tenant, caller.subject(), uri, params, patch.patch(), session -> WorkloadService.required(
                                store.source(session, tenant, id))
                        .call(source -> workloads.requireMayManage(session, tenant, caller, source.view()))
                        .chain(source -> update(new Edit(session, tenant, caller, source, params, patch))));
    }

    /** One request. */
    private record Edit(
            Mutiny.Session session,
            TenantId tenant,
            Caller caller,
            Source source,
            WriteParams params,
            MergePatch patch) {

        WorkloadApi.View view() {
            return source.view();
        }
    }

    private Uni<WriteReply> update(Edit edit) {
        WorkloadApi.View view = edit.view();
        edit.params().requireVersion(view.version());
        requireWaiting(view);
        WorkloadApi.Patch now = WorkloadApi.Patch.of(view);
        WorkloadApi.Patch wanted = edit.patch().applyTo(now, WorkloadApi.Patch.class, json);
        ProblemException.Invalid invalid = new ProblemException.Invalid();
        Submission.checkQueue("", wanted.queue(), invalid);
        Submission.checkChangeable("", wanted.priority(), wanted.maxRuntime(), wanted.labels(), invalid);
        invalid.throwIfAny();
        String queue = Objects.requireNonNull(wanted.queue());
        return queues.read(edit.session(), edit.tenant(), Set.of(queue))
                .map(found -> terms(edit, queue, found.get(queue)))
                .chain(terms -> {
                    WorkloadApi.Patch after = new WorkloadApi.Patch(
                            queue,
                            terms.rights().priority(view.type(), wanted.priority()),
                            wanted.maxRuntime(),
                            wanted.labels() == null ? Map.of() : wanted.labels());
                    return after.equals(now)
                            ? Uni.createFrom().item(WriteReply.ok(view, view.version()))
                            : requireAccepted(edit, terms, after).chain(() -> write(edit, terms, now, after));
                });
    }

    private static void requireWaiting(WorkloadApi.View view) {
        WorkloadState state = WorkloadState.of(view.state());
        if (state instanceof WorkloadState.Over || view.wish() == DesiredState.CANCEL) {
            throw ProblemException.conflict(
                    "workload-over",
                    state instanceof WorkloadState.Over
                            ? "the workload has ended, so nothing of it can change; clone it with other values"
                            : "the workload is being cancelled, so nothing of it can change; clone it with other"
                                    + " values");
        }
        if (state instanceof WorkloadState.WithAttempt) {
            throw ProblemException.conflict(
                    "workload-started",
                    "the workload is " + view.state() + "; its queue, priority, maximum run time and labels can change"
                            + " only while it waits. Cancel it and clone it with other values");
        }
    }

    private static QueueTerms terms(Edit edit, String queue, @Nullable QueueTerms found) {
        if (found != null) {
            return found;
        }
        if (queue.equals(edit.view().queue())) {
            throw ProblemException.conflict(
                    "queue-changed", "queue " + queue + " was retired; name another queue to move the workload to");
        }
        String message = "there is no such queue, or you may not see it";
        throw new ProblemException(Problem.of(
                404, "not-found", message, List.of(new Problem.Field("queue", message, "the name of an open queue"))));
    }

    /** The checks that a submission passes, as far as the change concerns them. */
    private Uni<Void> requireAccepted(Edit edit, QueueTerms terms, WorkloadApi.Patch after) {
        WorkloadApi.View view = edit.view();
        boolean moves = !terms.name().equals(view.queue());
        int priority = Objects.requireNonNull(after.priority());
        if (moves || priority > view.priority()) {
            List<Problem.Field> objections = terms.rights()
                    .objections("", view.type(), priority, moves ? (Boolean) view.preemptible() : Boolean.TRUE);
            if (!objections.isEmpty()) {
                throw SubmissionRightsValidator.refused(objections);
            }
        }
        return moves ? requireFits(edit, terms) : Uni.createFrom().voidItem();
    }

    private Uni<Void> requireFits(Edit edit, QueueTerms target) {
        if (target.draining()) {
            throw new ProblemException(Problem.of(
                    409,
                    "queue-draining",
                    "queue " + target.name() + " is draining and takes no more workloads",
                    List.of(new Problem.Field(
                            "queue", "is draining", "the name of a queue that takes new workloads"))));
        }
        Submission asked = json.convertValue(edit.source().spec(), Submission.class);
        if (!asked.requiredType().fits(target.gpus().any())) {
            throw ProblemException.refused(
                    "type-does-not-fit",
                    "queue",
                    "a service uses no GPU, but queue " + target.name() + " has a profile with GPUs",
                    "a queue whose profile has no GPUs");
        }
        if (!target.gpus().allows(asked.namedGpus())) {
            throw ProblemException.refused(
                    "gpus-out-of-range",
                    "queue",
                    target.gpus().refusal("queue " + target.name()),
                    "a queue whose profile allows the GPUs of the workload");
        }
        if (!target.gpus().allowsAtLeast(asked.namedMinGpus(), asked.namedGpus())) {
            throw ProblemException.refused(
                    "gpus-out-of-range",
                    "queue",
                    target.gpus().refusalAtLeast("queue " + target.name(), asked.namedMinGpus()),
                    "a queue whose profile allows the fewest GPUs of the workload");
        }
        return requireAdmitted(edit, target)
                .chain(() -> admission.requireRoom(
                        edit.session(),
                        edit.tenant(),
                        target.id(),
                        new SubmissionAdmission.Room(target.name(), target.maxWaiting(), 1)));
    }

    /**
     * The submitter must be admitted to the queue. The groups of a submitter are known only if it is the caller.
     * Otherwise a rule must name the submitter, or the rules must include those of the present queue. A caller that
     * manages the work must also be admitted to the queue itself, or manage the work in it.
     */
    private Uni<Void> requireAdmitted(Edit edit, QueueTerms target) {
        Caller caller = edit.caller();
        return store.submitter(edit.session(), edit.tenant(), edit.view().id()).chain(submitter -> {
            if (caller.subject().equals(submitter)) {
                return require(target.rules().maySubmit(caller), target, "you");
            }
            String name = edit.view().submittedBy();
            return queues.read(edit.session(), edit.tenant(), Set.of(edit.view().queue()))
                    .map(now -> Optional.ofNullable(now.get(edit.view().queue())))
                    .chain(now -> require(
                                    caller.may(Permission.WORKLOADS_MANAGE, target.group())
                                            || target.rules().maySubmit(caller),
                                    target,
                                    "you")
                            .chain(() -> require(
                                    target.rules().admitNamed(name)
                                            || now.filter(own -> target.rules().include(own.rules()))
                                                    .isPresent(),
                                    target,
                                    "the submitter " + name)));
        });
    }

    private static Uni<Void> require(boolean admitted, QueueTerms target, String whom) {
        return admitted
                ? Uni.createFrom().voidItem()
                : Uni.createFrom()
                        .failure(ProblemException.forbidden("no access rule lets " + whom + " submit to queue "
                                + target.name() + ". Ask an admin of the tenant for a rule"));
    }

    private Uni<WriteReply> write(Edit edit, QueueTerms terms, WorkloadApi.Patch before, WorkloadApi.Patch after) {
        UUID id = edit.view().id();
        return store.change(edit.session(), edit.tenant(), id, edit.view().version(), terms, after)
                .chain(written -> WorkloadService.required(store.view(edit.session(), edit.tenant(), id))
                        .invoke(now -> {
                            if (!written) {
                                requireWaiting(now);
                                edit.params().requireVersion(now.version());
                                throw ProblemException.conflict(
                                        "queue-changed",
                                        "the queue changed during the request; nothing was changed, so try again");
                            }
                        })
                        .call(now -> audit.record(
                                edit.session(),
                                edit.tenant(),
                                edit.caller(),
                                new AuditLog.Change(
                                        "workloads:update", "workloads/" + id, fields(before), fields(after)))))
                .map(now -> WriteReply.ok(now, now.version()));
    }

    private static Map<String, Object> fields(WorkloadApi.Patch patch) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("queue", String.valueOf(patch.queue()));
        fields.put("priority", Objects.requireNonNull(patch.priority()));
        Duration maxRuntime = patch.maxRuntime();
        if (maxRuntime != null) {
            fields.put("maxRuntime", maxRuntime.toString());
        }
        fields.put("labels", patch.labels() == null ? Map.of() : patch.labels());
        return fields;
    }
}
