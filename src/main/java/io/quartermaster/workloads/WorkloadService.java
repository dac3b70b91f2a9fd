package io.quartermaster.workloads;

import io.quartermaster.access.Caller;
import io.quartermaster.access.GroupPath;
import io.quartermaster.access.Permission;
import io.quartermaster.access.Realm;
import io.quartermaster.access.audit.AuditLog;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.TenantTransactions;
import io.quartermaster.platform.http.Page;
import io.quartermaster.platform.http.PageRequest;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.writes.TenantWrites;
import io.quartermaster.platform.writes.WriteParams;
import io.quartermaster.platform.writes.WriteReply;
import io.quartermaster.workloads.WorkloadApi.Details;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import org.hibernate.reactive.mutiny.Mutiny;
import org.jspecify.annotations.Nullable;

/** Shows workloads, and writes the desired states that members request. */
@ApplicationScoped
class WorkloadService {

    private final TenantTransactions transactions;
    private final TenantWrites tenantWrites;
    private final WorkloadStore store;
    private final AuditLog audit;
    private final OutlookSource outlookSource;

    WorkloadService(
            TenantTransactions transactions,
            TenantWrites tenantWrites,
            WorkloadStore store,
            AuditLog audit,
            OutlookSource outlookSource) {
        this.transactions = transactions;
        this.tenantWrites = tenantWrites;
        this.store = store;
        this.audit = audit;
        this.outlookSource = outlookSource;
    }

    Uni<Page<WorkloadApi.View>> list(TenantId tenant, WorkloadStore.Filter filter, PageRequest page) {
        String scope = "workloads:" + tenant + ":" + filter;
        Optional<UUID> after = page.afterId(scope);
        int size = page.size();
        return transactions
                .in(tenant, session -> store.list(session, tenant, filter, after, size + 1))
                .map(found -> Page.of(found, size, scope, view -> view.id().toString()));
    }

    Uni<WorkloadApi.Details> details(TenantId tenant, Caller caller, UUID id) {
        return transactions.in(tenant, session -> details(session, tenant, id)
                .chain(details -> seesEnvironment(session, tenant, caller, details.workload())
                        .map(seen -> seen ? details : details.withoutEnvironment())));
    }

    /**
     * Whether the caller may see the environment. It may hold the tenant's secrets, so no operator may read it,
     * whatever the operator may do with the workload.
     */
    private Uni<Boolean> seesEnvironment(
            Mutiny.Session session, TenantId tenant, Caller caller, WorkloadApi.View view) {
        return switch (caller.realm()) {
            case Realm.Tenant own -> mayManage(session, tenant, caller, view);
            case Realm.Operator operator -> Uni.createFrom().item(false);
        };
    }

    /**
     * Explains a workload. While it waits, the reasons, their numbers and the outlook are of one state of the cell,
     * which is read outside of any transaction. If that takes too long, the reasons are those that the leader stored,
     * without an outlook.
     */
    Uni<WorkloadApi.Explanation> explain(TenantId tenant, UUID id) {
        return transactions
                .in(tenant, session -> required(store.view(session, tenant, id)))
                .chain(view -> isWaiting(WorkloadState.of(view.state()))
                        ? outlookSource.prospectOf(id)
                        : Uni.createFrom().item(Optional.<OutlookSource.Prospect>empty()))
                .chain(prospect -> transactions.in(tenant, session -> details(session, tenant, id)
                        .chain(details -> explain(session, tenant, details, prospect))));
    }

    private static boolean isWaiting(WorkloadState state) {
        return state instanceof WorkloadState.Waiting || state instanceof WorkloadState.Paused;
    }

    private Uni<WorkloadApi.Explanation> explain(
            Mutiny.Session session, TenantId tenant, Details details, Optional<OutlookSource.Prospect> prospect) {
        UUID id = details.workload().id();
        WorkloadState state = WorkloadState.of(details.workload().state());
        return switch (state) {
            case WorkloadState.Waiting waiting -> explainWaiting(session, tenant, details, prospect);
            case WorkloadState.Paused paused -> explainWaiting(session, tenant, details, prospect);
            case WorkloadState.WithAttempt with ->
                store.rule(session, tenant, id).map(rule -> ExplanationMapper.withAttempt(details, with, rule));
            case WorkloadState.Held held -> Uni.createFrom().item(ExplanationMapper.withoutAttempt(details, held));
            case WorkloadState.Over over -> Uni.createFrom().item(ExplanationMapper.withoutAttempt(details, over));
        };
    }

    private Uni<WorkloadApi.Explanation> explainWaiting(
            Mutiny.Session session, TenantId tenant, Details details, Optional<OutlookSource.Prospect> prospect) {
        Optional<OutlookSource.Prospect> ofThisWait = prospect.filter(ExplanationMapper::describesWait);
        return store.position(session, tenant, details.workload().id())
                .chain(position -> ofThisWait.isEmpty()
                        ? Uni.createFrom().item(ExplanationMapper.stored(details, position))
                        : outlook(session, tenant, ofThisWait.get())
                                .map(outlook ->
                                        ExplanationMapper.waiting(details, position, ofThisWait.get(), outlook)));
    }

    /** Adds the names of the workloads and policies in an outlook, which the tenant reads in its own transaction. */
    private Uni<WorkloadApi.Outlook> outlook(Mutiny.Session session, TenantId tenant, OutlookSource.Prospect prospect) {
        return store.holders(session, tenant, ExplanationMapper.holderIds(prospect))
                .chain(holders -> store.policies(session, tenant, ExplanationMapper.groups(prospect))
                        .map(policies -> ExplanationMapper.outlook(prospect, holders, policies)));
    }

    /**
     * The end of an attempt's output. With several nodes, the outputs follow one another, each under a header line.
     */
    Uni<String> logs(TenantId tenant, UUID id, OptionalInt attempt, int chars) {
        return transactions.in(tenant, session -> details(session, tenant, id).chain(details -> {
            List<WorkloadApi.Attempt> attempts = details.attempts();
            Optional<WorkloadApi.Attempt> chosen = attempt.isEmpty()
                    ? Optional.ofNullable(attempts.isEmpty() ? null : attempts.getLast())
                    : attempts.stream()
                            .filter(a -> a.number() == attempt.getAsInt())
                            .findFirst();
            if (chosen.isEmpty() && attempt.isPresent()) {
                throw ProblemException.notFound();
            }
            return chosen.isEmpty()
                    ? Uni.createFrom().item("")
                    : store.logTails(session, tenant, chosen.get().id(), chars).map(WorkloadService::joinTails);
        }));
    }

    Uni<Response> setDesiredState(
            TenantId tenant, Caller caller, UUID id, DesiredState desiredState, WriteParams params, UriInfo uri) {
        return tenantWrites.run(
                tenant, caller.subject(), uri, params, null, session -> required(store.view(session, tenant, id))
                        .call(view -> requireMayManage(session, tenant, caller, view))
                        .chain(view -> setDesiredState(session, tenant, caller, view, desiredState)));
    }

    private Uni<WriteReply> setDesiredState(
            Mutiny.Session session, TenantId tenant, Caller caller, WorkloadApi.View view, DesiredState desiredState) {
        return hasDesiredState(view, desiredState)
                ? Uni.createFrom().item(WriteReply.ok(view))
                : writeDesiredState(session, tenant, caller, view, desiredState);
    }

    /** @param grace the longest time that the workload gets to stop; empty: the grace period of its policy and pool */
    Uni<Response> cancel(
            TenantId tenant, Caller caller, UUID id, Optional<Duration> grace, WriteParams params, UriInfo uri) {
        return tenantWrites.run(
                tenant, caller.subject(), uri, params, null, session -> required(store.view(session, tenant, id))
                        .call(view -> requireMayManage(session, tenant, caller, view))
                        .chain(view -> setDesiredState(session, tenant, caller, view, DesiredState.CANCEL)
                                .call(() -> grace.isEmpty()
                                        ? Uni.createFrom().voidItem()
                                        : shortenGrace(session, tenant, caller, view, grace.get()))));
    }

    /** Shortens the time to stop. It changes nothing and writes no audit entry if the deadline is earlier already. */
    private Uni<Void> shortenGrace(
            Mutiny.Session session, TenantId tenant, Caller caller, WorkloadApi.View view, Duration grace) {
        AuditLog.Change change = new AuditLog.Change(
                "workloads:cancel", "workloads/" + view.id(), Map.of(), Map.of("grace", grace.toString()));
        return store.stopWithin(session, tenant, view.id(), grace)
                .chain(written -> written
                        ? audit.record(session, tenant, caller, change)
                        : Uni.createFrom().voidItem());
    }

    private Uni<WriteReply> writeDesiredState(
            Mutiny.Session session, TenantId tenant, Caller caller, WorkloadApi.View view, DesiredState desiredState) {
        AuditLog.Change change = new AuditLog.Change(
                "workloads:" + verb(desiredState),
                "workloads/" + view.id(),
                Map.of("wish", view.wish().word()),
                Map.of("wish", desiredState.word()));
        return store.updateDesiredState(session, tenant, view.id(), desiredState)
                .chain(written -> written
                        ? audit.record(session, tenant, caller, change)
                        : Uni.createFrom()
                                .failure(ProblemException.conflict(
                                        "workload-over", "the workload has ended, or is being cancelled")))
                .chain(() -> required(store.view(session, tenant, view.id())))
                .map(WriteReply::ok);
    }

    /**
     * Whether the desired state is set already. A workload that is over or being cancelled accepts no other desired
     * state.
     */
    private static boolean hasDesiredState(WorkloadApi.View view, DesiredState desiredState) {
        WorkloadState state = WorkloadState.of(view.state());
        if (state instanceof WorkloadState.Cancelled && desiredState == DesiredState.CANCEL) {
            return true;
        }
        if (state instanceof WorkloadState.Over) {
            throw ProblemException.conflict(
                    "workload-over",
                    state instanceof WorkloadState.Cancelled
                            ? "the workload was cancelled"
                            : "the workload has " + view.state());
        }
        if (view.wish() == DesiredState.CANCEL && desiredState != DesiredState.CANCEL) {
            throw ProblemException.conflict("workload-over", "the workload is being cancelled");
        }
        return view.wish() == desiredState;
    }

    private Uni<Void> requireMayManage(Mutiny.Session session, TenantId tenant, Caller caller, WorkloadApi.View view) {
        return mayManage(session, tenant, caller, view)
                .invoke(allowed -> {
                    if (!allowed) {
                        throw ProblemException.forbidden("the workload belongs to " + view.submittedBy()
                                + "; to manage workloads of others you need the permission "
                                + Permission.WORKLOADS_MANAGE.word() + " for group " + view.group());
                    }
                })
                .replaceWithVoid();
    }

    /**
     * Whether the caller may manage the workload or submitted it. Submitters are compared by subject, because another
     * user may have the name by now.
     */
    private Uni<Boolean> mayManage(Mutiny.Session session, TenantId tenant, Caller caller, WorkloadApi.View view) {
        if (caller.may(Permission.WORKLOADS_MANAGE, new GroupPath(view.group()))) {
            return Uni.createFrom().item(true);
        }
        return caller.realm() instanceof Realm.Tenant
                ? store.submitter(session, tenant, view.id()).map(caller.subject()::equals)
                : Uni.createFrom().item(false);
    }

    private Uni<WorkloadApi.Details> details(Mutiny.Session session, TenantId tenant, UUID id) {
        return required(store.details(session, tenant, id));
    }

    private static <T> Uni<T> required(Uni<@Nullable T> found) {
        return found.onItem().ifNull().failWith(ProblemException::notFound).map(WorkloadService::present);
    }

    private static <T> T present(@Nullable T value) {
        if (value == null) {
            throw ProblemException.notFound();
        }
        return value;
    }

    private static String joinTails(List<String> tails) {
        if (tails.size() == 1) {
            return tails.getFirst();
        }
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < tails.size(); i++) {
            text.append("==> node ")
                    .append(i + 1)
                    .append(" of ")
                    .append(tails.size())
                    .append(" <==\n");
            text.append(tails.get(i)).append('\n');
        }
        return text.toString();
    }

    private static String verb(DesiredState desiredState) {
        return switch (desiredState) {
            case RUN -> "release";
            case HOLD -> "hold";
            case CANCEL -> "cancel";
        };
    }
}
