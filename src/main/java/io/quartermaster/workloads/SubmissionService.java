package io.quartermaster.workloads;

import io.quartermaster.access.Caller;
import io.quartermaster.access.Permission;
import io.quartermaster.platform.Ids;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.WriteMode;
import io.quartermaster.platform.http.Problem;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.writes.TenantWrites;
import io.quartermaster.platform.writes.WriteParams;
import io.quartermaster.platform.writes.WriteReply;
import io.quartermaster.workloads.SubmissionStore.Member;
import io.quartermaster.workloads.SubmissionStore.Outcome;
import io.quartermaster.workloads.SubmissionStore.SubmittedRow;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.hibernate.reactive.mutiny.Mutiny;
import org.jspecify.annotations.Nullable;

/**
 * Accepts the submissions of members. A submission is one call to Redis and then one transaction, which it may share
 * with other submissions of its tenant ({@link SubmissionGroups}): the rows of the workloads, and the inbox rows that
 * name them. A batch is stored as a whole or not at all.
 *
 * <p>The workload's own row records its submitter and time and is never removed, so a submission writes no audit entry.
 */
@ApplicationScoped
class SubmissionService {

    private final TenantWrites tenantWrites;
    private final QueueDirectory queues;
    private final SubmissionAdmission submissionAdmission;
    private final SubmissionGroups groups;
    private final SubmissionStore store;
    private final SubmissionCounts counts;

    SubmissionService(
            TenantWrites tenantWrites,
            QueueDirectory queues,
            SubmissionAdmission submissionAdmission,
            SubmissionGroups groups,
            SubmissionStore store,
            SubmissionCounts counts) {
        this.tenantWrites = tenantWrites;
        this.queues = queues;
        this.submissionAdmission = submissionAdmission;
        this.groups = groups;
        this.store = store;
        this.counts = counts;
    }

    Uni<Response> submitOne(
            TenantId tenant, Caller caller, @Nullable Submission body, WriteParams params, UriInfo uri) {
        return submitOne(tenant, caller, body, body, Optional.empty(), params, uri);
    }

    /**
     * @param sent the body of the request, which a repeated key must repeat
     * @param refusal why nothing can be submitted, unless the request repeats one that was accepted
     */
    Uni<Response> submitOne(
            TenantId tenant,
            Caller caller,
            @Nullable Submission body,
            @Nullable Object sent,
            Optional<ProblemException> refusal,
            WriteParams params,
            UriInfo uri) {
        if (body == null) {
            throw ProblemException.invalid("body", "is missing", "a submission: queue, name, type, command");
        }
        ProblemException.Invalid invalid = new ProblemException.Invalid();
        body.check("", invalid);
        invalid.throwIfAny();
        Request request = new Request(tenant, caller, List.of(body), i -> "", refusal, params, uri);
        return submitCounted(
                request,
                sent,
                submitted -> WriteReply.created(
                        "/v1/tenants/" + tenant + "/workloads/"
                                + submitted.getFirst().id(),
                        submitted.getFirst()));
    }

    Uni<Response> submitBatch(
            TenantId tenant, Caller caller, WorkloadApi.@Nullable Batch body, WriteParams params, UriInfo uri) {
        List<@Nullable Submission> items = body == null || body.items() == null ? List.of() : body.items();
        if (items.isEmpty() || items.size() > WorkloadApi.MAX_BATCH) {
            throw ProblemException.invalid(
                    "items", "has " + items.size() + " items", "1 to " + WorkloadApi.MAX_BATCH + " submissions");
        }
        ProblemException.Invalid invalid = new ProblemException.Invalid();
        List<Submission> known = new ArrayList<>(items.size());
        for (int i = 0; i < items.size(); i++) {
            Submission item = items.get(i);
            if (item == null) {
                invalid.add("items[" + i + "]", "is null", "a submission");
            } else {
                item.check("items[" + i + "].", invalid);
                known.add(item);
            }
        }
        invalid.throwIfAny();
        Request request = new Request(tenant, caller, known, i -> "items[" + i + "].", Optional.empty(), params, uri);
        return submitCounted(
                request, body, submitted -> new WriteReply(201, new WorkloadApi.SubmittedBatch(submitted), Map.of()));
    }

    /**
     * @param fieldPrefix the prefix of the field names of each item
     * @param refusal known before the checks of the queues
     */
    private record Request(
            TenantId tenant,
            Caller caller,
            List<Submission> items,
            Function<Integer, String> fieldPrefix,
            Optional<ProblemException> refusal,
            WriteParams params,
            UriInfo uri) {

        Set<String> queueNames() {
            Set<String> names = new TreeSet<>();
            items.forEach(item -> names.add(item.requiredQueue()));
            return names;
        }
    }

    /** The cached terms of a queue are outdated. */
    private static final class OutdatedTerms extends RuntimeException {
        private static final long serialVersionUID = 1L;

        OutdatedTerms() {
            super("a queue has changed", null, false, false);
        }
    }

    private Uni<Response> submitCounted(
            Request request, @Nullable Object body, Function<List<WorkloadApi.Submitted>, WriteReply> answer) {
        Uni<Response> run = submitWithRetry(request, body, answer);
        return request.params().mode() == WriteMode.DRY_RUN
                ? run
                : counts.count(request.items().size(), run);
    }

    private Uni<Response> submitWithRetry(
            Request request, @Nullable Object body, Function<List<WorkloadApi.Submitted>, WriteReply> answer) {
        return Uni.createFrom()
                .deferred(() -> prepare(request).chain(preparation -> store(request, preparation, body, answer)))
                .onFailure(OutdatedTerms.class)
                .invoke(() -> queues.invalidate(request.tenant(), request.queueNames()))
                .onFailure(OutdatedTerms.class)
                .retry()
                .atMost(1)
                .onFailure(OutdatedTerms.class)
                .transform(e -> ProblemException.conflict(
                        "queue-changed", "a queue changed during the submission; nothing was submitted, so try again"));
    }

    /** The result of the steps before the transaction. */
    private sealed interface Preparation {

        /** The submission may enter. Either Redis holds room for it, or PostgreSQL has yet to count. */
        record Ready(
                List<UUID> ids,
                Map<String, QueueTerms> terms,
                List<SubmissionAdmission.RoomRequest> roomRequests,
                boolean held)
                implements Preparation {}

        record Refused(ProblemException problem) implements Preparation {}
    }

    /**
     * Takes all steps before the transaction, above all the call to Redis: no request may wait for Redis while it holds
     * a database connection.
     */
    private Uni<Preparation> prepare(Request request) {
        if (request.refusal().isPresent()) {
            return Uni.createFrom()
                    .item(new Preparation.Refused(request.refusal().get()));
        }
        List<UUID> ids = request.items().stream().map(item -> Ids.next()).toList();
        return findAcceptingQueues(request)
                .chain(terms -> {
                    List<SubmissionAdmission.RoomRequest> roomRequests = roomRequests(request, terms, ids);
                    return tryHold(request, roomRequests)
                            .<Preparation>map(held -> new Preparation.Ready(ids, terms, roomRequests, held));
                })
                .onFailure(ProblemException.class)
                .recoverWithItem(e -> new Preparation.Refused((ProblemException) e));
    }

    /**
     * Returns the requested queues if all of them accept the submission. Cached terms never refuse: the queues are read
     * again first.
     */
    private Uni<Map<String, QueueTerms>> findAcceptingQueues(Request request) {
        Set<String> names = request.queueNames();
        return queues.find(request.tenant(), names).chain(found -> {
            Optional<ProblemException> refusal = findRefusal(request, found.terms());
            if (refusal.isEmpty()) {
                return Uni.createFrom().item(found.terms());
            }
            if (!found.fromCache()) {
                return Uni.createFrom().failure(refusal.get());
            }
            return queues.read(request.tenant(), names).invoke(terms -> {
                Optional<ProblemException> still = findRefusal(request, terms);
                if (still.isPresent()) {
                    throw still.get();
                }
            });
        });
    }

    private Uni<Boolean> tryHold(Request request, List<SubmissionAdmission.RoomRequest> roomRequests) {
        return request.params().mode() == WriteMode.COMMIT
                ? submissionAdmission.tryHold(request.tenant(), roomRequests)
                : Uni.createFrom().item(false);
    }

    /**
     * Stores the submission. A refused one with a key is looked up nevertheless: it may repeat a request that was
     * accepted.
     */
    private Uni<Response> store(
            Request request,
            Preparation preparation,
            @Nullable Object body,
            Function<List<WorkloadApi.Submitted>, WriteReply> answer) {
        return switch (preparation) {
            case Preparation.Refused refused ->
                request.params().key().isPresent()
                        ? runTransaction(
                                request, body, session -> Uni.createFrom().failure(refused.problem()))
                        : Uni.createFrom().failure(refused.problem());
            case Preparation.Ready ready ->
                ready.held() ? storeInGroup(request, ready, body, answer) : storeAlone(request, ready, body, answer);
        };
    }

    /** A transaction that other submissions of the tenant may share. */
    private Uni<Response> storeInGroup(
            Request request,
            Preparation.Ready ready,
            @Nullable Object body,
            Function<List<WorkloadApi.Submitted>, WriteReply> answer) {
        WriteReply reply = answer.apply(toSubmitted(request, ready));
        Member member = toMember(request, ready, tenantWrites.keyed(request.uri(), request.params(), body, reply));
        return groups.submit(request.tenant(), member)
                .onFailure()
                .call(() -> release(request, ready))
                .chain(outcome -> switch (outcome) {
                    case ENTERED -> Uni.createFrom().item(tenantWrites.committed(reply));
                    case OUTDATED ->
                        release(request, ready).chain(() -> Uni.createFrom().failure(new OutdatedTerms()));
                    case REPEATED -> storeAlone(request, ready, body, answer);
                });
    }

    /** A transaction of its own, which can also count in PostgreSQL, be rolled back, or read the answer of a key. */
    private Uni<Response> storeAlone(
            Request request,
            Preparation.Ready ready,
            @Nullable Object body,
            Function<List<WorkloadApi.Submitted>, WriteReply> answer) {
        AtomicBoolean inserted = new AtomicBoolean();
        return runTransaction(request, body, session -> countInDatabase(session, request, ready)
                        .chain(() -> insert(session, request, ready))
                        .invoke(() -> inserted.set(true))
                        .map(answer))
                .onFailure()
                .call(() -> release(request, ready))
                .call(() -> inserted.get() ? Uni.createFrom().voidItem() : release(request, ready));
    }

    private Uni<Response> runTransaction(
            Request request, @Nullable Object body, Function<Mutiny.Session, Uni<WriteReply>> work) {
        return tenantWrites.run(
                request.tenant(), request.caller().subject(), request.uri(), request.params(), body, work);
    }

    private Uni<Void> countInDatabase(Mutiny.Session session, Request request, Preparation.Ready ready) {
        return ready.held()
                ? Uni.createFrom().voidItem()
                : submissionAdmission.countInDatabase(session, request.tenant(), ready.roomRequests());
    }

    /** Releases the holds of a submission that was refused, or whose key had been used for the same request before. */
    private Uni<Void> release(Request request, Preparation.Ready ready) {
        return ready.held()
                ? submissionAdmission.release(request.tenant(), ready.roomRequests())
                : Uni.createFrom().voidItem();
    }

    private static Optional<ProblemException> findRefusal(Request request, Map<String, QueueTerms> terms) {
        List<Problem.Field> unknown = new ArrayList<>();
        List<Problem.Field> unfit = new ArrayList<>();
        List<Problem.Field> beyond = new ArrayList<>();
        List<Problem.Field> ungranted = new ArrayList<>();
        Set<String> closed = new TreeSet<>();
        List<Problem.Field> drained = new ArrayList<>();
        for (int i = 0; i < request.items().size(); i++) {
            Submission item = request.items().get(i);
            QueueTerms queue = terms.get(item.requiredQueue());
            if (queue == null) {
                unknown.add(new Problem.Field(
                        request.fieldPrefix().apply(i) + "queue",
                        "there is no such queue",
                        "the name of an open queue"));
            } else if (!queue.tenantActive()) {
                return Optional.of(SubmissionAdmission.tenantSuspended());
            } else if (!queue.rules().maySubmit(request.caller())) {
                closed.add(queue.name());
            } else if (queue.draining()) {
                drained.add(new Problem.Field(
                        request.fieldPrefix().apply(i) + "queue",
                        "queue " + queue.name() + " is draining and takes no new workloads",
                        "the name of a queue that takes new workloads"));
            } else if (!item.requiredType().fits(queue.gpus().any())) {
                unfit.add(new Problem.Field(
                        request.fieldPrefix().apply(i) + "type",
                        "a service uses no GPU, but queue " + queue.name() + " has a profile with GPUs",
                        "another type, or a queue whose profile has no GPUs"));
            } else if (!queue.gpus().allows(item.namedGpus())) {
                beyond.add(new Problem.Field(
                        request.fieldPrefix().apply(i) + "gpus",
                        queue.gpus().refusal("queue " + queue.name()),
                        queue.gpus().accepted()));
            } else if (!queue.gpus().allowsAtLeast(item.namedMinGpus(), item.namedGpus())) {
                beyond.add(new Problem.Field(
                        request.fieldPrefix().apply(i) + "minGpus",
                        queue.gpus().refusalAtLeast("queue " + queue.name(), item.namedMinGpus()),
                        queue.gpus().acceptedAtLeast()));
            } else {
                ungranted.addAll(queue.rights()
                        .objections(
                                request.fieldPrefix().apply(i),
                                item.requiredType(),
                                item.priority(),
                                item.preemptible()));
            }
        }
        if (!unknown.isEmpty() || !closed.isEmpty() && !request.caller().may(Permission.QUEUES_READ)) {
            return Optional.of(new ProblemException(
                    Problem.of(404, "not-found", "there is no such queue, or you may not see it", unknown)));
        }
        if (!closed.isEmpty()) {
            return Optional.of(
                    ProblemException.forbidden("no access rule lets you submit to queue " + String.join(", ", closed)
                            + ". Ask an admin of the tenant for a rule that names you or one of your groups"));
        }
        if (!drained.isEmpty()) {
            return Optional.of(new ProblemException(
                    Problem.of(409, "queue-draining", drained.getFirst().message(), drained)));
        }
        if (!unfit.isEmpty()) {
            return Optional.of(new ProblemException(
                    Problem.of(422, "type-does-not-fit", unfit.getFirst().message(), unfit)));
        }
        if (!beyond.isEmpty()) {
            return Optional.of(new ProblemException(
                    Problem.of(422, "gpus-out-of-range", beyond.getFirst().message(), beyond)));
        }
        return ungranted.isEmpty() ? Optional.empty() : Optional.of(SubmissionRightsValidator.refused(ungranted));
    }

    private static List<SubmissionAdmission.RoomRequest> roomRequests(
            Request request, Map<String, QueueTerms> terms, List<UUID> ids) {
        Map<String, List<UUID>> byQueue = new LinkedHashMap<>();
        for (int i = 0; i < ids.size(); i++) {
            byQueue.computeIfAbsent(request.items().get(i).requiredQueue(), name -> new ArrayList<>())
                    .add(ids.get(i));
        }
        List<SubmissionAdmission.RoomRequest> roomRequests = new ArrayList<>();
        byQueue.forEach((name, workloads) -> {
            QueueTerms queue = requiredQueue(terms, name);
            roomRequests.add(
                    new SubmissionAdmission.RoomRequest(queue.id(), queue.name(), queue.maxWaiting(), workloads));
        });
        return roomRequests;
    }

    private Uni<List<WorkloadApi.Submitted>> insert(Mutiny.Session session, Request request, Preparation.Ready ready) {
        return store.submit(session, request.tenant(), toMember(request, ready, Optional.empty()))
                .map(outcome -> {
                    if (outcome != Outcome.ENTERED) {
                        throw new OutdatedTerms();
                    }
                    return toSubmitted(request, ready);
                });
    }

    private static Member toMember(Request request, Preparation.Ready ready, Optional<TenantWrites.KeyedAnswer> keyed) {
        List<SubmittedRow> rows = new ArrayList<>(ready.ids().size());
        for (int i = 0; i < ready.ids().size(); i++) {
            Submission item = request.items().get(i);
            rows.add(SubmittedRow.of(ready.ids().get(i), item, requiredQueue(ready.terms(), item.requiredQueue())));
        }
        return new Member(request.caller().username(), request.caller().subject(), keyed, rows);
    }

    private static List<WorkloadApi.Submitted> toSubmitted(Request request, Preparation.Ready ready) {
        List<WorkloadApi.Submitted> submitted = new ArrayList<>(ready.ids().size());
        for (int i = 0; i < ready.ids().size(); i++) {
            Submission item = request.items().get(i);
            QueueTerms queue = requiredQueue(ready.terms(), item.requiredQueue());
            SubmittedRow row = SubmittedRow.of(ready.ids().get(i), item, queue);
            submitted.add(new WorkloadApi.Submitted(
                    row.id(),
                    row.name(),
                    queue.name(),
                    item.requiredType(),
                    row.priority(),
                    row.preemptible(),
                    row.state()));
        }
        return submitted;
    }

    private static QueueTerms requiredQueue(Map<String, QueueTerms> terms, String name) {
        QueueTerms queue = terms.get(name);
        if (queue == null) {
            throw new IllegalStateException("queue " + name + " was not looked up");
        }
        return queue;
    }
}
