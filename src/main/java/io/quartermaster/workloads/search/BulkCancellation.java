package io.quartermaster.workloads.search;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.access.Caller;
import io.quartermaster.access.GroupPath;
import io.quartermaster.access.Permission;
import io.quartermaster.access.Realm;
import io.quartermaster.access.audit.AuditLog;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.writes.TenantWrites;
import io.quartermaster.platform.writes.WriteParams;
import io.quartermaster.platform.writes.WriteReply;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.hibernate.reactive.mutiny.Mutiny;

/**
 * Cancels the workloads that match a filter, as far as the caller may manage them: a bounded number per call, in one
 * transaction with one audit entry.
 */
@ApplicationScoped
class BulkCancellation {

    /** The most workloads that one call cancels: its transaction locks their rows, which the leader writes, too. */
    static final int MOST = 1_000;

    /** The most workloads that the answer names. */
    static final int MOST_NAMED = 100;

    private static final String CANCELLABLE = WorkloadFilter.IS_LIVE + " and w.wish <> 'cancel'";

    private final TenantWrites tenantWrites;
    private final AuditLog audit;
    private final ObjectMapper json;

    BulkCancellation(TenantWrites tenantWrites, AuditLog audit, ObjectMapper json) {
        this.tenantWrites = tenantWrites;
        this.audit = audit;
        this.json = json;
    }

    /** A workload that the call cancels. */
    @Schema(name = "CancelledWorkload")
    record Cancelled(
            UUID id,
            String name,
            String queue,
            String submittedBy,

            @Schema(ref = "WorkloadState", description = "Its state before the call.")
            String state) {}

    /** The outcome of one call. */
    @Schema(name = "WorkloadCancellation")
    record Outcome(
            @Schema(description = "The workloads that match and that the caller may cancel. The number stops at 10000.")
            long matched,

            @Schema(description = "The workloads that this call cancels.")
            long cancelled,

            @Schema(description = "The workloads that a repeated call would cancel.")
            long remaining,

            @Schema(
                    description = "The workloads that match, but that the caller may not manage. The number stops at"
                            + " 10000.")
            long notPermitted,

            @Schema(description = "The first 100 of the workloads that this call cancels, the oldest first.")
            List<Cancelled> items) {}

    Uni<Response> cancel(
            TenantId tenant,
            Caller caller,
            WorkloadFilterParams given,
            Optional<Duration> grace,
            WriteParams params,
            UriInfo uri) {
        params.key();
        WorkloadFilter filter = given.filter();
        if (filter.isEmpty()) {
            throw ProblemException.invalid(
                    "filter",
                    "no filter is given, so all work of the tenant would be cancelled",
                    "at least one of state, reason, queue, group, pool, submittedBy, name, label, submittedFrom,"
                            + " submittedUntil");
        }
        return tenantWrites.run(
                tenant, caller.subject(), uri, params, null, session -> permitted(session, tenant, caller)
                        .chain(permitted -> cancel(session, tenant, caller, filter, permitted, grace)
                                .call(outcome -> record(session, tenant, caller, given, grace, outcome)))
                        .map(done -> WriteReply.ok(done.outcome())));
    }

    /** The condition that the caller may cancel {@code workload w}, with its parameters. */
    private Uni<WorkloadFilter.Conditions> permitted(Mutiny.Session session, TenantId tenant, Caller caller) {
        if (caller.mayEverywhere(Permission.WORKLOADS_MANAGE)) {
            return Uni.createFrom().item(new WorkloadFilter.Conditions("true", Map.of()));
        }
        Map<String, Object> parameters = new LinkedHashMap<>();
        // A subject of the operator's realm has submitted nothing in a tenant.
        parameters.put("subject", caller.realm() instanceof Realm.Tenant ? caller.subject() : "");
        String own = "coalesce(w.submitter = :subject, false)";
        return session.createNativeQuery("select id, group_path from policy where tenant_id = :tenant", Object[].class)
                .setParameter("tenant", tenant.value())
                .getResultList()
                .map(rows -> {
                    List<UUID> managed = rows.stream()
                            .filter(row -> caller.may(Permission.WORKLOADS_MANAGE, new GroupPath((String) row[1])))
                            .map(row -> (UUID) row[0])
                            .toList();
                    if (managed.isEmpty()) {
                        return new WorkloadFilter.Conditions(own, parameters);
                    }
                    parameters.put("managed", managed);
                    return new WorkloadFilter.Conditions("(" + own + " or w.policy_id in (:managed))", parameters);
                });
    }

    /** @param ids all workloads that the call cancels */
    private record Done(Outcome outcome, List<UUID> ids) {}

    private Uni<Done> cancel(
            Mutiny.Session session,
            TenantId tenant,
            Caller caller,
            WorkloadFilter filter,
            WorkloadFilter.Conditions permitted,
            Optional<Duration> grace) {
        WorkloadFilter.Conditions matches = filter.conditions();
        Map<String, Object> parameters = new LinkedHashMap<>(matches.parameters());
        parameters.putAll(permitted.parameters());
        return count(session, tenant, matches.sql() + CANCELLABLE + " and " + permitted.sql(), parameters)
                .chain(matched -> count(
                                session,
                                tenant,
                                matches.sql() + CANCELLABLE + " and not (" + permitted.sql() + ")",
                                parameters)
                        .chain(others -> write(
                                        session,
                                        tenant,
                                        matches.sql() + CANCELLABLE + " and " + permitted.sql(),
                                        parameters,
                                        grace)
                                .map(cancelled -> new Done(
                                        new Outcome(
                                                Math.max(matched, cancelled.size()),
                                                cancelled.size(),
                                                Math.max(0, matched - cancelled.size()),
                                                others,
                                                cancelled.stream()
                                                        .limit(MOST_NAMED)
                                                        .toList()),
                                        cancelled.stream().map(Cancelled::id).toList()))));
    }

    private static Uni<Long> count(
            Mutiny.Session session, TenantId tenant, String conditions, Map<String, Object> parameters) {
        Mutiny.SelectionQuery<Long> query = session.createNativeQuery(
                "select count(*) from (select 1 from workload w where w.tenant_id = :tenant" + conditions
                        + " limit :most) c",
                Long.class);
        parameters.forEach(query::setParameter);
        return query.setParameter("tenant", tenant.value())
                .setParameter("most", WorkloadCount.MOST)
                .getSingleResult();
    }

    /** Writes the desired state of the oldest workloads that match, and notifies the leader. */
    private Uni<List<Cancelled>> write(
            Mutiny.Session session,
            TenantId tenant,
            String conditions,
            Map<String, Object> parameters,
            Optional<Duration> grace) {
        // In the order of the ids, so that two calls do not wait for each other.
        Mutiny.SelectionQuery<String> query = session.createNativeQuery(
                "with chosen as materialized (select w.id, w.state from workload w where w.tenant_id = :tenant"
                        + conditions + " order by w.id limit :most for no key update), cancelled as ("
                        + "update workload u set wish = 'cancel', stop_by = "
                        + (grace.isEmpty()
                                ? "u.stop_by"
                                : "clock_timestamp() + cast(:grace as bigint) * interval '1 millisecond'")
                        + """
                          from chosen c where u.tenant_id = :tenant and u.id = c.id and u.wish <> 'cancel'
                           and u.state not in ('succeeded', 'failed', 'cancelled')
                        returning u.id, u.name, u.queue_id, u.submitted_by, c.state),
                    announced as (insert into inbox (tenant_id, kind, ref)
                        select :tenant, 'workload', cast(id as text) from cancelled)
                    select cast(coalesce(json_agg(json_build_object('id', d.id, 'name', d.name, 'queue', q.name,
                               'submittedBy', d.submitted_by, 'state', d.state) order by d.id), '[]') as text)
                      from cancelled d join queue q on q.tenant_id = :tenant and q.id = d.queue_id
                    """,
                String.class);
        parameters.forEach(query::setParameter);
        grace.ifPresent(time -> query.setParameter("grace", time.toMillis()));
        return query.setParameter("tenant", tenant.value())
                .setParameter("most", MOST)
                .getSingleResult()
                .map(this::read);
    }

    private List<Cancelled> read(String rows) {
        try {
            return json.readValue(rows, new TypeReference<List<Cancelled>>() {});
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("could not read the cancelled workloads", e);
        }
    }

    private Uni<Void> record(
            Mutiny.Session session,
            TenantId tenant,
            Caller caller,
            WorkloadFilterParams given,
            Optional<Duration> grace,
            Done done) {
        if (done.ids().isEmpty()) {
            return Uni.createFrom().voidItem();
        }
        Map<String, Object> after = new LinkedHashMap<>();
        after.put("filter", given.inWords());
        grace.ifPresent(time -> after.put("grace", time.toString()));
        after.put("workloads", done.ids());
        return audit.record(
                session, tenant, caller, new AuditLog.Change("workloads:cancel", "workloads", Map.of(), after));
    }
}
