package io.quartermaster.governance;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.access.AccessRule;
import io.quartermaster.access.Caller;
import io.quartermaster.access.CurrentCaller;
import io.quartermaster.access.GroupPath;
import io.quartermaster.access.Permission;
import io.quartermaster.access.audit.AuditLog;
import io.quartermaster.capacity.grants.CapacityReservationStore;
import io.quartermaster.capacity.inventory.NodeShapes;
import io.quartermaster.governance.rules.CalendarFit;
import io.quartermaster.governance.rules.Policy;
import io.quartermaster.governance.rules.Profile;
import io.quartermaster.governance.rules.Queue;
import io.quartermaster.governance.rules.TenantRules;
import io.quartermaster.governance.rules.WaitingWorkPolicy;
import io.quartermaster.platform.Ids;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.inbox.Inbox;
import io.quartermaster.platform.writes.FieldChange;
import io.quartermaster.platform.writes.TenantWrites;
import io.quartermaster.platform.writes.WriteParams;
import io.quartermaster.platform.writes.WriteReply;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.hibernate.reactive.mutiny.Mutiny;
import org.jspecify.annotations.Nullable;

/**
 * The transaction for every change of a tenant's rules, under the lock of the tenant's quotas. It reads the rules,
 * writes the difference, adds the first access rule of new queues, and cancels or moves waiting work. Then it adds the
 * audit and inbox rows.
 */
@ApplicationScoped
public class RuleChanges {

    /** A larger number is a mistake of a script, and would slow down every change. */
    private static final int MAX_POLICIES = 1000;

    /** The code of every refusal of reservations that exceed what is available, whichever call makes them. */
    public static final String DO_NOT_FIT = "reservations-do-not-fit";

    private static final int MAX_PROFILES = 1000;
    private static final int MAX_QUEUES = 10_000;

    private final TenantWrites tenantWrites;
    private final RulesStore store;
    private final WaitingStore waiting;
    private final CapacityReservationStore reservations;
    private final NodeShapes shapes;
    private final AuditLog audit;
    private final CurrentCaller currentCaller;
    private final ObjectMapper json;

    RuleChanges(
            TenantWrites tenantWrites,
            RulesStore store,
            WaitingStore waiting,
            CapacityReservationStore reservations,
            NodeShapes shapes,
            AuditLog audit,
            CurrentCaller currentCaller,
            ObjectMapper json) {
        this.tenantWrites = tenantWrites;
        this.store = store;
        this.waiting = waiting;
        this.reservations = reservations;
        this.shapes = shapes;
        this.audit = audit;
        this.currentCaller = currentCaller;
        this.json = json;
    }

    /** A write in its transaction, with the rules before the write. */
    public record ChangeContext(
            Mutiny.Session session, TenantId tenant, Caller caller, WriteParams params, TenantRules before) {

        /** The same transaction, with the rules as written so far. */
        ChangeContext with(TenantRules rules) {
            return new ChangeContext(session, tenant, caller, params, rules);
        }
    }

    public Uni<Response> run(
            TenantId tenant,
            UriInfo uri,
            WriteParams params,
            @Nullable Object body,
            Function<ChangeContext, Uni<WriteReply>> work) {
        Caller caller = currentCaller.current();
        return tenantWrites.run(tenant, caller.subject(), uri, params, body, session -> store.lock(session, tenant)
                .chain(before -> work.apply(new ChangeContext(session, tenant, caller, params, before))));
    }

    public static <B> B required(@Nullable B body) {
        if (body == null) {
            throw ProblemException.invalid("body", "is missing", "a JSON object");
        }
        return body;
    }

    /** Writes the new rules and returns the effects. */
    public Uni<ChangeImpact> apply(
            ChangeContext work, TenantRules after, WaitingWorkPolicy waitingWorkPolicy, AuditLog.Change change) {
        return apply(work, after, waitingWorkPolicy, List.of(change))
                .map(changeImpact -> changeImpact.withChangedFields(changedFields(change)));
    }

    /**
     * Writes several changes in one step, each with its audit entry. They are checked and written together, as one
     * difference.
     */
    public Uni<ChangeImpact> apply(
            ChangeContext work, TenantRules after, WaitingWorkPolicy waitingWorkPolicy, List<AuditLog.Change> changes) {
        requireBounded(after);
        requireMayMove(work, waitingWorkPolicy);
        TenantRules before = work.before();
        Diff<Queue> queues = Diff.ofQueues(before, after);
        return requireRoom(work, after)
                .chain(() -> store.save(work.session(), before, after))
                .chain(() -> insertGroupRules(work, after, queues.added()))
                .chain(() -> waiting.apply(work.session(), after, queues.removed(), waitingWorkPolicy))
                .chain(waitingTouched -> waiting.heldAmounts(work.session(), work.tenant())
                        .map(held -> ChangeImpact.between(before, after, held, waitingTouched)))
                .chain(changeImpact -> addShapeWarnings(work, after, changeImpact))
                .call(() -> SequentialUnis.each(
                        changes, change -> audit.record(work.session(), work.tenant(), work.caller(), change)))
                .call(() -> endReservations(work, Diff.ofPolicies(before, after).removed()))
                .call(() -> postChanges(work, Inbox.Kind.POLICY, Diff.ofPolicies(before, after), Policy::id))
                .call(() -> postChanges(work, Inbox.Kind.PROFILE, Diff.ofProfiles(before, after), Profile::id))
                .call(() -> postChanges(work, Inbox.Kind.QUEUE, queues, Queue::id));
    }

    private Uni<ChangeImpact> addShapeWarnings(ChangeContext work, TenantRules after, ChangeImpact changeImpact) {
        List<Profile> concerned = ShapeWarnings.changedProfiles(work.before(), after);
        return concerned.isEmpty()
                ? Uni.createFrom().item(changeImpact)
                : shapes.readFits(work.session(), work.tenant()).map(fits -> {
                    ChangeImpact warned = changeImpact;
                    for (String warning : ShapeWarnings.warnings(after, concerned, fits)) {
                        warned = warned.withWarning(warning);
                    }
                    return warned;
                });
    }

    /**
     * Work moves only into queues that the caller may change. The check does not depend on whether work waits, so a dry
     * run reports the refusal.
     */
    private static void requireMayMove(ChangeContext work, WaitingWorkPolicy waitingWorkPolicy) {
        if (waitingWorkPolicy instanceof WaitingWorkPolicy.Move move) {
            work.before().queue(move.queue()).ifPresent(target -> {
                GroupPath group = work.before().policyOf(target).group();
                if (!work.caller().may(Permission.QUEUES_WRITE, group)) {
                    throw ProblemException.forbidden("the permission " + Permission.QUEUES_WRITE
                            + " of a group admin covers queues of its own groups and of the groups below them: "
                            + "work cannot move to queue "
                            + target.name() + " of " + group
                            + ". Name a queue of your own groups in moveTo, or ask an admin of the tenant");
                }
            });
        }
    }

    private List<FieldChange> changedFields(AuditLog.Change change) {
        Object before = change.before();
        Object after = change.after();
        return before == null || after == null ? List.of() : FieldChange.between(before, after, json);
    }

    /**
     * The reservations of groups must fit at each future moment, including windows of the calendar and active
     * overrides.
     */
    private Uni<Void> requireRoom(ChangeContext work, TenantRules after) {
        return reservations
                .readUpcoming(work.session(), work.tenant())
                .invoke(windows -> {
                    var unfit = new ProblemException.Invalid();
                    CalendarFit.objections(
                                    new CalendarFit.State(work.before(), windows),
                                    new CalendarFit.State(after, windows),
                                    reservations.now())
                            .forEach(objection -> unfit.add(
                                    field(work, after, objection),
                                    "does not fit: " + objection.text(),
                                    "at most the amount that is free at each moment"));
                    unfit.refuseIfAny(DO_NOT_FIT);
                })
                .replaceWithVoid();
    }

    private static String field(ChangeContext work, TenantRules after, CalendarFit.Objection objection) {
        Diff<Policy> policies = Diff.ofPolicies(work.before(), after);
        return Stream.concat(policies.added().stream(), policies.changed().stream())
                .map(policy -> objection.field(work.tenant(), policy))
                .findFirst()
                .orElse("quotas");
    }

    private Uni<Void> endReservations(ChangeContext work, List<Policy> gone) {
        Set<UUID> ids = gone.stream().map(Policy::id).collect(Collectors.toSet());
        return ids.isEmpty()
                ? Uni.createFrom().voidItem()
                : reservations.endAll(
                        new CapacityReservationStore.Change(work.session(), work.tenant(), work.caller()),
                        each -> each.policy().filter(ids::contains).isPresent());
    }

    private static void requireBounded(TenantRules after) {
        if (after.policies().size() > MAX_POLICIES
                || after.profiles().size() > MAX_PROFILES
                || after.queues().size() > MAX_QUEUES) {
            throw ProblemException.conflict(
                    "too-many",
                    "a tenant has at most " + MAX_POLICIES + " policies, " + MAX_PROFILES + " profiles and "
                            + MAX_QUEUES + " queues");
        }
    }

    /** A new queue admits the group of its policy. */
    private static Uni<Void> insertGroupRules(ChangeContext work, TenantRules after, List<Queue> made) {
        return SequentialUnis.each(made, queue -> {
            AccessRule rule = new AccessRule.ForGroup(after.policyOf(queue).group());
            return QueueRules.insert(work.session(), work.tenant(), queue.id(), Ids.next(), rule);
        });
    }

    private static <T> Uni<Void> postChanges(ChangeContext work, Inbox.Kind kind, Diff<T> diff, Function<T, UUID> id) {
        List<T> touched = new ArrayList<>(diff.added());
        touched.addAll(diff.changed());
        touched.addAll(diff.removed());
        return SequentialUnis.each(
                touched,
                one -> Inbox.post(
                        work.session(), work.tenant(), kind, id.apply(one).toString()));
    }
}
