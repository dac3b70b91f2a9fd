package io.quartermaster.workloads;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
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
 * Accepts the submissions of members. A submission is one call to Redis and then one transaction with one statement:
 * the rows of the workloads, and the inbox rows that name them. A batch is stored as a whole or not at all.
 *
 * <p>The workload's own row records its submitter and time and is never removed, so a submission writes no audit entry.
 */
@ApplicationScoped
class SubmissionService {

    /**
     * Joins the queue, its policy and its profile again. So no workload enters a retired queue, or enters under terms,
     * rights or access rules that have changed since they were read.
     */
    private static final String INSERT = """
            with asked as (
                select * from json_to_recordset(cast(cast(:rows as text) as json)) as x(n int, id uuid, name text,
                    type text, queue uuid, version bigint,
                    rules_version bigint, policy_version bigint, profile_version bigint, priority int,
                        preemptible boolean, dedicated_only boolean, command jsonb, environment jsonb,
                        abort_callback jsonb,
                    max_runtime_ms bigint, gpus int, min_gpus int, labels jsonb, wish text, state text)),
            submitted as (
                insert into workload (tenant_id, id, name, type, queue_id, policy_id, profile_id, submitted_by,
                    submitter, priority, preemptible,
                    dedicated_only, command, environment, abort_callback, max_runtime_ms, gpus, min_gpus, labels,
                        wish, state)
                select q.tenant_id, a.id, a.name, a.type, q.id, q.policy_id, q.profile_id, :by, :submitter,
                    a.priority, a.preemptible,
                    a.dedicated_only, a.command, a.environment, a.abort_callback, a.max_runtime_ms, a.gpus,
                        a.min_gpus, a.labels, a.wish, a.state
                  from asked a
                  join queue q on q.tenant_id = :tenant and q.id = a.queue and q.version = a.version
                      and q.rules_version = a.rules_version and q.retired_at is null
                  join policy p on p.tenant_id = q.tenant_id and p.id = q.policy_id and p.version = a.policy_version
                  join profile f on f.tenant_id = q.tenant_id and f.id = q.profile_id and f.version = a.profile_version
                  join tenant t on t.id = q.tenant_id and t.state = 'active'
                 order by a.n for share of q
                returning id)
            insert into inbox (tenant_id, kind, ref) select :tenant, 'workload', cast(id as text) from submitted
            """;

    private final TenantWrites tenantWrites;
    private final QueueDirectory queues;
    private final SubmissionAdmission submissionAdmission;
    private final ObjectMapper json;
    private final SubmissionCounts counts;

    SubmissionService(
            TenantWrites tenantWrites,
            QueueDirectory queues,
            SubmissionAdmission submissionAdmission,
            ObjectMapper json,
            SubmissionCounts counts) {
        this.tenantWrites = tenantWrites;
        this.queues = queues;
        this.submissionAdmission = submissionAdmission;
        this.json = json;
        this.counts = counts;
    }

    Uni<Response> one(TenantId tenant, Caller caller, @Nullable Submission body, WriteParams params, UriInfo uri) {
        if (body == null) {
            throw ProblemException.invalid("body", "is missing", "a submission: queue, name, type, command");
        }
        ProblemException.Invalid invalid = new ProblemException.Invalid();
        body.check("", invalid);
        invalid.throwIfAny();
        Request request = new Request(tenant, caller, List.of(body), i -> "", params, uri);
        return run(
                request,
                body,
                submitted -> WriteReply.created(
                        "/v1/tenants/" + tenant + "/workloads/"
                                + submitted.getFirst().id(),
                        submitted.getFirst()));
    }

    Uni<Response> batch(
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
        Request request = new Request(tenant, caller, known, i -> "items[" + i + "].", params, uri);
        return run(
                request, body, submitted -> new WriteReply(201, new WorkloadApi.SubmittedBatch(submitted), Map.of()));
    }

    /** @param at the prefix of the field names of each item */
    private record Request(
            TenantId tenant,
            Caller caller,
            List<Submission> items,
            Function<Integer, String> at,
            WriteParams params,
            UriInfo uri) {

        Set<String> queueNames() {
            Set<String> names = new TreeSet<>();
            items.forEach(item -> names.add(item.knownQueue()));
            return names;
        }
    }

    /** The cached terms of a queue are outdated. */
    private static final class Outdated extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Outdated() {
            super("a queue has changed", null, false, false);
        }
    }

    private Uni<Response> run(
            Request request, @Nullable Object body, Function<List<WorkloadApi.Submitted>, WriteReply> answer) {
        Uni<Response> run = attempt(request, body, answer);
        return request.params().mode() == WriteMode.DRY_RUN
                ? run
                : counts.count(request.items().size(), run);
    }

    private Uni<Response> attempt(
            Request request, @Nullable Object body, Function<List<WorkloadApi.Submitted>, WriteReply> answer) {
        return Uni.createFrom()
                .deferred(() -> enter(request).chain(entry -> write(request, entry, body, answer)))
                .onFailure(Outdated.class)
                .invoke(() -> queues.forget(request.tenant(), request.queueNames()))
                .onFailure(Outdated.class)
                .retry()
                .atMost(1)
                .onFailure(Outdated.class)
                .transform(e -> ProblemException.conflict(
                        "queue-changed", "a queue changed during the submission; nothing was submitted, so try again"));
    }

    /** The result of the steps before the transaction. */
    private sealed interface Entry {

        /** The submission may enter. Either Redis holds room for it, or PostgreSQL has yet to count. */
        record Open(List<UUID> ids, Map<String, QueueTerms> terms, List<SubmissionAdmission.Ask> asks, boolean held)
                implements Entry {}

        record Refused(ProblemException problem) implements Entry {}
    }

    /**
     * Takes all steps before the transaction, above all the call to Redis: no request may wait for Redis while it holds
     * a database connection.
     */
    private Uni<Entry> enter(Request request) {
        List<UUID> ids = request.items().stream().map(item -> Ids.next()).toList();
        return allowed(request)
                .chain(terms -> {
                    List<SubmissionAdmission.Ask> asks = asks(request, terms, ids);
                    return admit(request, asks).<Entry>map(held -> new Entry.Open(ids, terms, asks, held));
                })
                .onFailure(ProblemException.class)
                .recoverWithItem(e -> new Entry.Refused((ProblemException) e));
    }

    /**
     * Returns the requested queues if all of them accept the submission. Cached terms never refuse: the queues are read
     * again first.
     */
    private Uni<Map<String, QueueTerms>> allowed(Request request) {
        Set<String> names = request.queueNames();
        return queues.find(request.tenant(), names).chain(found -> {
            Optional<ProblemException> refusal = refusal(request, found.terms());
            if (refusal.isEmpty()) {
                return Uni.createFrom().item(found.terms());
            }
            if (!found.remembered()) {
                return Uni.createFrom().failure(refusal.get());
            }
            return queues.read(request.tenant(), names).invoke(terms -> {
                Optional<ProblemException> still = refusal(request, terms);
                if (still.isPresent()) {
                    throw still.get();
                }
            });
        });
    }

    private Uni<Boolean> admit(Request request, List<SubmissionAdmission.Ask> asks) {
        return request.params().mode() == WriteMode.COMMIT
                ? submissionAdmission.hold(request.tenant(), asks)
                : Uni.createFrom().item(false);
    }

    /**
     * Stores the submission. A refused one with a key is looked up nevertheless: it may repeat a request that was
     * accepted.
     */
    private Uni<Response> write(
            Request request,
            Entry entry,
            @Nullable Object body,
            Function<List<WorkloadApi.Submitted>, WriteReply> answer) {
        return switch (entry) {
            case Entry.Refused refused ->
                request.params().key().isPresent()
                        ? transaction(request, body, session -> Uni.createFrom().failure(refused.problem()))
                        : Uni.createFrom().failure(refused.problem());
            case Entry.Open open -> {
                AtomicBoolean inserted = new AtomicBoolean();
                yield transaction(request, body, session -> count(session, request, open)
                                .chain(() -> insert(session, request, open.terms(), open.ids()))
                                .invoke(() -> inserted.set(true))
                                .map(answer))
                        .onFailure()
                        .call(() -> release(request, open))
                        .call(() -> inserted.get() ? Uni.createFrom().voidItem() : release(request, open));
            }
        };
    }

    private Uni<Response> transaction(
            Request request, @Nullable Object body, Function<Mutiny.Session, Uni<WriteReply>> work) {
        return tenantWrites.run(
                request.tenant(), request.caller().subject(), request.uri(), request.params(), body, work);
    }

    private Uni<Void> count(Mutiny.Session session, Request request, Entry.Open open) {
        return open.held()
                ? Uni.createFrom().voidItem()
                : submissionAdmission.countInDatabase(session, request.tenant(), open.asks());
    }

    /** Releases the holds of a submission that was refused, or whose key had been used for the same request before. */
    private Uni<Void> release(Request request, Entry.Open open) {
        return open.held()
                ? submissionAdmission.release(request.tenant(), open.asks())
                : Uni.createFrom().voidItem();
    }

    private static Optional<ProblemException> refusal(Request request, Map<String, QueueTerms> terms) {
        List<Problem.Field> unknown = new ArrayList<>();
        List<Problem.Field> unfit = new ArrayList<>();
        List<Problem.Field> beyond = new ArrayList<>();
        List<Problem.Field> ungranted = new ArrayList<>();
        Set<String> closed = new TreeSet<>();
        List<Problem.Field> drained = new ArrayList<>();
        for (int i = 0; i < request.items().size(); i++) {
            Submission item = request.items().get(i);
            QueueTerms queue = terms.get(item.knownQueue());
            if (queue == null) {
                unknown.add(new Problem.Field(
                        request.at().apply(i) + "queue", "there is no such queue", "the name of an open queue"));
            } else if (!queue.tenantActive()) {
                return Optional.of(SubmissionAdmission.tenantSuspended());
            } else if (!queue.rules().maySubmit(request.caller())) {
                closed.add(queue.name());
            } else if (queue.draining()) {
                drained.add(new Problem.Field(
                        request.at().apply(i) + "queue",
                        "queue " + queue.name() + " is draining and takes no new workloads",
                        "the name of a queue that takes new workloads"));
            } else if (!item.known().fits(queue.gpus().any())) {
                unfit.add(new Problem.Field(
                        request.at().apply(i) + "type",
                        "a service uses no GPU, but queue " + queue.name() + " has a profile with GPUs",
                        "another type, or a queue whose profile has no GPUs"));
            } else if (!queue.gpus().allows(item.namedGpus())) {
                beyond.add(new Problem.Field(
                        request.at().apply(i) + "gpus",
                        queue.gpus().refusal("queue " + queue.name()),
                        queue.gpus().accepted()));
            } else if (!queue.gpus().allowsAtLeast(item.namedMinGpus(), item.namedGpus())) {
                beyond.add(new Problem.Field(
                        request.at().apply(i) + "minGpus",
                        queue.gpus().refusalAtLeast("queue " + queue.name(), item.namedMinGpus()),
                        queue.gpus().acceptedAtLeast()));
            } else {
                ungranted.addAll(queue.rights()
                        .objections(request.at().apply(i), item.known(), item.priority(), item.preemptible()));
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

    private static List<SubmissionAdmission.Ask> asks(Request request, Map<String, QueueTerms> terms, List<UUID> ids) {
        Map<String, List<UUID>> byQueue = new LinkedHashMap<>();
        for (int i = 0; i < ids.size(); i++) {
            byQueue.computeIfAbsent(request.items().get(i).knownQueue(), name -> new ArrayList<>())
                    .add(ids.get(i));
        }
        List<SubmissionAdmission.Ask> asks = new ArrayList<>();
        byQueue.forEach((name, workloads) -> {
            QueueTerms queue = queue(terms, name);
            asks.add(new SubmissionAdmission.Ask(queue.id(), queue.name(), queue.maxWaiting(), workloads));
        });
        return asks;
    }

    private Uni<List<WorkloadApi.Submitted>> insert(
            Mutiny.Session session, Request request, Map<String, QueueTerms> terms, List<UUID> ids) {
        List<SubmittedRow> rows = new ArrayList<>(ids.size());
        List<WorkloadApi.Submitted> submitted = new ArrayList<>(ids.size());
        for (int i = 0; i < ids.size(); i++) {
            Submission item = request.items().get(i);
            QueueTerms queue = queue(terms, item.knownQueue());
            SubmittedRow row = SubmittedRow.of(i, ids.get(i), item, queue);
            rows.add(row);
            submitted.add(new WorkloadApi.Submitted(
                    row.id(), row.name(), queue.name(), item.known(), row.priority(), row.preemptible(), row.state()));
        }
        return session.createNativeQuery(INSERT)
                .setParameter("rows", write(rows))
                .setParameter("by", request.caller().username())
                .setParameter("submitter", request.caller().subject())
                .setParameter("tenant", request.tenant().value())
                .executeUpdate()
                .map(inserted -> {
                    if (inserted != ids.size()) {
                        throw new Outdated();
                    }
                    return submitted;
                });
    }

    /** A row of {@code workload} as {@link #INSERT} reads it; its fields have the names in that statement. */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record SubmittedRow(
            int n,
            UUID id,
            String name,
            String type,
            UUID queue,
            long version,
            long rulesVersion,
            long policyVersion,
            long profileVersion,
            int priority,
            boolean preemptible,
            boolean dedicatedOnly,
            @Nullable List<@Nullable String> command,
            Map<String, @Nullable String> environment,
            @Nullable List<@Nullable String> abortCallback,
            @Nullable Long maxRuntimeMs,
            @Nullable Integer gpus,
            @Nullable Integer minGpus,
            Map<String, @Nullable String> labels,
            String wish,
            String state) {

        static SubmittedRow of(int n, UUID id, Submission item, QueueTerms queue) {
            return new SubmittedRow(
                    n,
                    id,
                    String.valueOf(item.name()),
                    item.known().word(),
                    queue.id(),
                    queue.versions().queue(),
                    queue.versions().rules(),
                    queue.versions().policy(),
                    queue.versions().profile(),
                    queue.rights().priority(item.known(), item.priority()),
                    SubmissionRightsValidator.preemptible(item.known(), item.preemptible()),
                    Boolean.TRUE.equals(item.dedicatedOnly()),
                    item.command(),
                    item.environment() == null ? Map.of() : item.environment(),
                    item.abortCallback(),
                    item.maxRuntime() == null ? null : item.maxRuntime().toMillis(),
                    item.namedGpus().isPresent() ? item.namedGpus().getAsInt() : null,
                    item.namedMinGpus().isPresent() ? item.namedMinGpus().getAsInt() : null,
                    item.labels() == null ? Map.of() : item.labels(),
                    item.wish().word(),
                    WorkloadState.submitted(item.wish()).word());
        }
    }

    private static QueueTerms queue(Map<String, QueueTerms> terms, String name) {
        QueueTerms queue = terms.get(name);
        if (queue == null) {
            throw new IllegalStateException("queue " + name + " was not looked up");
        }
        return queue;
    }

    private String write(List<SubmittedRow> rows) {
        try {
            return json.writeValueAsString(rows);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("could not write a submission as JSON", e);
        }
    }
}
