package io.quartermaster.capacity.grants;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.access.Caller;
import io.quartermaster.access.CurrentCaller;
import io.quartermaster.access.audit.AuditLog;
import io.quartermaster.capacity.inventory.ListFilters;
import io.quartermaster.capacity.inventory.NodeIsolationRule;
import io.quartermaster.capacity.inventory.PoolApi;
import io.quartermaster.capacity.inventory.PoolStore;
import io.quartermaster.capacity.inventory.RowLock;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.platform.GpuAmount;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.db.TenantTransactions;
import io.quartermaster.platform.http.MergePatch;
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
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import org.hibernate.reactive.mutiny.Mutiny;
import org.jspecify.annotations.Nullable;

/**
 * Creates, changes and deletes allotments. Runs as the tenant, under the lock of its quotas. Questions about other
 * tenants (sums over all, tenants that share a pool) run in the system role, under the pool's lock.
 */
@ApplicationScoped
public class AllotmentService {

    private final TenantTransactions transactions;
    private final TenantWrites tenantWrites;
    private final SystemDatabase database;
    private final TenantAllotments tenantAllotments;
    private final PoolStore pools;
    private final PoolShareSource shares;
    private final NodeIsolationRule nodeIsolationRule;
    private final AllotmentGuard guard;
    private final CapacityReservationStore reservations;
    private final AuditLog audit;
    private final CurrentCaller currentCaller;
    private final ObjectMapper json;

    AllotmentService(
            TenantTransactions transactions,
            TenantWrites tenantWrites,
            SystemDatabase database,
            TenantAllotments tenantAllotments,
            PoolStore pools,
            PoolShareSource shares,
            NodeIsolationRule nodeIsolationRule,
            AllotmentGuard guard,
            CapacityReservationStore reservations,
            AuditLog audit,
            CurrentCaller currentCaller,
            ObjectMapper json) {
        this.transactions = transactions;
        this.tenantWrites = tenantWrites;
        this.database = database;
        this.tenantAllotments = tenantAllotments;
        this.pools = pools;
        this.shares = shares;
        this.nodeIsolationRule = nodeIsolationRule;
        this.guard = guard;
        this.reservations = reservations;
        this.audit = audit;
        this.currentCaller = currentCaller;
        this.json = json;
    }

    Uni<List<AllotmentApi.View>> list(TenantId tenant) {
        return transactions.in(tenant, session -> tenantAllotments
                .requireTenant(session, tenant)
                .chain(() -> tenantAllotments.read(session, tenant))
                .map(all ->
                        all.stream().map(one -> AllotmentApi.View.of(one, null)).toList()));
    }

    Uni<Response> get(TenantId tenant, String pool) {
        return transactions
                .in(tenant, session -> tenantAllotments.read(session, tenant))
                .map(all -> {
                    TenantAllotments.NamedAllotment found =
                            findByPool(all, pool).orElseThrow(ProblemException::notFound);
                    return TenantWrites.response(WriteReply.ok(AllotmentApi.View.of(found, null), found.version()));
                });
    }

    Uni<List<PoolApi.TenantView>> poolsOf(TenantId tenant) {
        return transactions
                .in(tenant, session -> tenantAllotments.read(session, tenant))
                .chain(all -> Uni.combine()
                        .all()
                        .unis(
                                database.on(connection -> pools.hardware(
                                        connection,
                                        all.stream()
                                                .map(TenantAllotments.NamedAllotment::poolId)
                                                .toList())),
                                shares.sharesOf(tenant))
                        .asTuple()
                        .map(known -> all.stream()
                                .map(one -> tenantView(
                                        one,
                                        Objects.requireNonNull(known.getItem1().get(one.poolId())),
                                        Optional.ofNullable(known.getItem2().get(one.poolName()))))
                                .toList()));
    }

    Uni<Response> put(
            TenantId tenant, String pool, AllotmentApi.@Nullable Request body, WriteParams params, UriInfo uri) {
        if (body == null) {
            throw ProblemException.invalid("body", "is missing", "a JSON object");
        }
        QuotaTerms terms = validate(body);
        Caller caller = currentCaller.current();
        return database.on(connection -> pools.find(connection, pool, RowLock.NONE))
                .map(found -> found.orElseThrow(ProblemException::notFound))
                .chain(target -> tenantWrites.run(
                        tenant, caller.subject(), uri, params, body, session -> lockAndRead(session, tenant, target)
                                .chain(all -> set(
                                        new Change(session, tenant, caller, target.id(), target.name()),
                                        target,
                                        all,
                                        terms,
                                        params))));
    }

    /** Changes the fields of an existing allotment that the patch names, and leaves the rest unchanged. */
    Uni<Response> patch(TenantId tenant, String pool, @Nullable String body, WriteParams params, UriInfo uri)
            throws JsonProcessingException {
        MergePatch patch = MergePatch.read(json, body, AllotmentApi.Request.class);
        Caller caller = currentCaller.current();
        return database.on(connection -> pools.find(connection, pool, RowLock.NONE))
                .map(found -> found.orElseThrow(ProblemException::notFound))
                .chain(target ->
                        tenantWrites.run(tenant, caller.subject(), uri, params, patch.patch(), session -> lockAndRead(
                                        session, tenant, target)
                                .chain(all -> {
                                    TenantAllotments.NamedAllotment now =
                                            findByPool(all, pool).orElseThrow(ProblemException::notFound);
                                    params.requireVersion(now.version());
                                    AllotmentApi.Request asked = patch.applyTo(
                                            AllotmentApi.Request.of(
                                                    now.allotment().terms()),
                                            AllotmentApi.Request.class,
                                            json);
                                    return set(
                                            new Change(session, tenant, caller, target.id(), target.name()),
                                            target,
                                            all,
                                            validate(asked),
                                            params);
                                })));
    }

    private static QuotaTerms validate(AllotmentApi.Request request) {
        var problems = new ProblemException.Invalid();
        QuotaTerms terms = request.fields().check(problems, "");
        request.fields().requireLimitToDrain(problems, "");
        problems.throwIfAny();
        return terms;
    }

    /**
     * Creates an allotment in a pool in which the tenant has none yet; an existing allotment stays unchanged. Fails,
     * with a message for operators, when the pool does not exist or may not serve the tenant.
     */
    public Uni<Void> grantIfAbsent(TenantId tenant, String pool, QuotaTerms terms, Caller caller) {
        return database.on(connection -> pools.find(connection, pool, RowLock.NONE))
                .map(found -> found.orElseThrow(() -> new IllegalStateException("there is no pool " + pool)))
                .chain(target -> transactions.in(tenant, session -> lockAndRead(session, tenant, target)
                        .chain(all -> findByPool(all, pool).isPresent()
                                ? Uni.createFrom().voidItem()
                                : set(
                                                new Change(session, tenant, caller, target.id(), target.name()),
                                                target,
                                                all,
                                                terms,
                                                new WriteParams())
                                        .replaceWithVoid())));
    }

    /**
     * Deletes all allotments of the tenant. No rule of the tenant may name a pool any more. The allotments are listed
     * under the lock of the quotas, so the list includes a concurrent grant.
     */
    public Uni<Void> revokeAll(TenantId tenant, Caller caller) {
        return transactions
                .in(tenant, session -> tenantAllotments
                        .lock(session, tenant)
                        .chain(() -> tenantAllotments.read(session, tenant)))
                .chain(all -> {
                    Uni<Void> chain = Uni.createFrom().voidItem();
                    for (TenantAllotments.NamedAllotment one : all) {
                        chain = chain.chain(() -> transactions.in(
                                        tenant,
                                        session -> revoke(session, tenant, caller, one.poolName(), new WriteParams())))
                                .replaceWithVoid();
                    }
                    return chain;
                });
    }

    /** A write in its transaction. */
    private record Change(Mutiny.Session session, TenantId tenant, Caller caller, UUID poolId, String poolName) {
        String resource() {
            return "allotments/" + poolName;
        }
    }

    /**
     * Begins a grant: takes the locks and then reads, because the tenant may have begun to leave, or the pool may have
     * been retired, while this transaction waited.
     */
    private Uni<List<TenantAllotments.NamedAllotment>> lockAndRead(
            Mutiny.Session session, TenantId tenant, PoolApi.View pool) {
        return tenantAllotments
                .lock(session, tenant)
                .chain(() -> tenantAllotments.requireNotOffboarding(session, tenant))
                .chain(() -> lockPool(session, pool.id()))
                .chain(() -> database.on(connection -> pools.isLive(connection, pool.id())))
                .invoke(live -> {
                    if (!live) {
                        throw ProblemException.notFound();
                    }
                })
                .chain(() -> tenantAllotments.read(session, tenant));
    }

    private static Uni<Void> lockPool(Mutiny.Session session, UUID pool) {
        return session.createNativeQuery(NodeIsolationRule.lockSql(":pool"), Integer.class)
                .setParameter("pool", pool.toString())
                .getSingleResult()
                .replaceWithVoid();
    }

    private Uni<WriteReply> set(
            Change change,
            PoolApi.View pool,
            List<TenantAllotments.NamedAllotment> all,
            QuotaTerms terms,
            WriteParams params) {
        Optional<TenantAllotments.NamedAllotment> before = findByPool(all, pool.name());
        if (before.isPresent()) {
            if (before.get().allotment().terms().equals(terms)) {
                return Uni.createFrom()
                        .item(WriteReply.ok(
                                AllotmentApi.View.of(before.get(), null),
                                before.get().version()));
            }
            params.requireVersion(before.get().version());
        } else if (params.givenVersion().isPresent()) {
            throw ProblemException.of(
                    412, "precondition-failed", "the tenant has no allotment in this pool yet; omit If-Match");
        }
        TenantAllotments.NamedAllotment after = allotmentAfter(change.tenant(), pool, terms, before);
        return checkTenants(change, before)
                .chain(() -> requireNoObjections(change, withAllotment(all, pool.id(), after), Optional.of(terms)))
                .chain(() -> store(change, before, after))
                .chain(() -> record(change, before, Optional.of(after)))
                .chain(() -> warnings(change, pool, terms))
                .map(warnings -> {
                    AllotmentApi.View view = AllotmentApi.View.of(after, warnings);
                    return before.isPresent()
                            ? WriteReply.ok(view.with(changedFields(before.get(), after)), after.version())
                            : WriteReply.created(path(change), view, after.version());
                });
    }

    private List<FieldChange> changedFields(
            TenantAllotments.NamedAllotment before, TenantAllotments.NamedAllotment after) {
        return FieldChange.between(AllotmentApi.View.of(before, null), AllotmentApi.View.of(after, null), json);
    }

    Uni<Response> delete(TenantId tenant, String pool, WriteParams params, UriInfo uri) {
        Caller caller = currentCaller.current();
        return tenantWrites.run(
                tenant, caller.subject(), uri, params, null, session -> revoke(session, tenant, caller, pool, params)
                        .map(revoked -> revoked.orElseThrow(ProblemException::notFound)));
    }

    /**
     * Deletes an allotment, regardless of the states of its tenant and its pool. Empty when the tenant has none in a
     * pool of that name.
     */
    private Uni<Optional<WriteReply>> revoke(
            Mutiny.Session session, TenantId tenant, Caller caller, String pool, WriteParams params) {
        return tenantAllotments
                .lock(session, tenant)
                .chain(() -> tenantAllotments.read(session, tenant))
                .chain(all -> findByPool(all, pool)
                        .map(before -> lockPool(session, before.poolId())
                                .chain(() -> remove(
                                        new Change(session, tenant, caller, before.poolId(), pool),
                                        before,
                                        all,
                                        params))
                                .map(Optional::of))
                        .orElseGet(() -> Uni.createFrom().item(Optional.empty())));
    }

    private Uni<WriteReply> remove(
            Change change,
            TenantAllotments.NamedAllotment before,
            List<TenantAllotments.NamedAllotment> all,
            WriteParams params) {
        if (params.givenVersion().isPresent()) {
            params.requireVersion(before.version());
        }
        return requireNoObjections(change, withAllotment(all, change.poolId(), null), Optional.empty())
                .chain(() -> reservations.endAll(
                        new CapacityReservationStore.Change(change.session(), change.tenant(), change.caller()),
                        each -> each.pool().equals(change.poolId())))
                .chain(() -> row(change))
                .chain(row -> change.session().remove(row))
                .chain(() -> record(change, Optional.of(before), Optional.empty()))
                .map(done -> WriteReply.noContent());
    }

    private Uni<Void> checkTenants(Change change, Optional<TenantAllotments.NamedAllotment> before) {
        return before.isPresent()
                ? Uni.createFrom().voidItem()
                : database.on(connection -> nodeIsolationRule.checkTenant(
                        connection, change.poolId(), change.tenant().value(), "pool"));
    }

    /** @param terms the terms as they would be; empty where the change deletes the allotment */
    private Uni<Void> requireNoObjections(
            Change change, List<TenantAllotments.NamedAllotment> after, Optional<QuotaTerms> terms) {
        return reservations
                .readUpcoming(change.session(), change.tenant())
                .map(coming -> coming.stream()
                        .filter(window ->
                                after.stream().anyMatch(one -> one.poolId().equals(window.pool())))
                        .toList())
                .chain(windows -> guard.objectionsToAllotments(
                        change.session(), change.tenant(), after, windows, reservations.now()))
                .invoke(objections -> refuse(objections, terms))
                .replaceWithVoid();
    }

    private static void refuse(List<AllotmentGuard.Objection> objections, Optional<QuotaTerms> terms) {
        List<String> uses = new ArrayList<>();
        var unfit = new ProblemException.Invalid();
        for (AllotmentGuard.Objection objection : objections) {
            switch (objection) {
                case AllotmentGuard.Objection.InUse use -> uses.add(use.text());
                case AllotmentGuard.Objection.DoesNotFit(String text, Optional<Instant> at) ->
                    unfit.add(
                            field(terms, at),
                            "does not fit: " + text,
                            "at least the amount that the tenant's policies reserve");
            }
        }
        if (!uses.isEmpty()) {
            throw ProblemException.conflict(
                    "in-use",
                    "rules of the tenant name the pool: " + ListFilters.abbreviate(uses) + "; change those first");
        }
        unfit.refuseIfAny("reservations-do-not-fit");
    }

    /** The field of the request that sets the reservation at that time. */
    private static String field(Optional<QuotaTerms> terms, Optional<Instant> at) {
        boolean overridden = terms.isPresent()
                && at.isPresent()
                && terms.get().overridesReservedAt(at.get().toEpochMilli());
        return overridden ? "override.reserved" : "reserved";
    }

    private Uni<Void> store(
            Change change, Optional<TenantAllotments.NamedAllotment> before, TenantAllotments.NamedAllotment after) {
        if (before.isEmpty()) {
            return change.session()
                    .persist(new AllotmentRow(
                            change.tenant().value(),
                            change.poolId(),
                            after.allotment().terms()));
        }
        return row(change)
                .invoke(row -> {
                    row.set(after.allotment().terms());
                    row.version = after.version();
                })
                .replaceWithVoid();
    }

    private Uni<AllotmentRow> row(Change change) {
        return change.session()
                .find(AllotmentRow.class, new AllotmentRow.Key(change.tenant().value(), change.poolId()));
    }

    private Uni<Void> record(
            Change change,
            Optional<TenantAllotments.NamedAllotment> before,
            Optional<TenantAllotments.NamedAllotment> after) {
        String action = before.isEmpty() ? "create" : after.isEmpty() ? "delete" : "update";
        return audit.record(
                        change.session(),
                        change.tenant(),
                        change.caller(),
                        new AuditLog.Change(
                                "allotments:" + action,
                                change.resource(),
                                before.map(one -> AllotmentApi.View.of(one, null))
                                        .orElse(null),
                                after.map(one -> AllotmentApi.View.of(one, null))
                                        .orElse(null)))
                .chain(() -> Inbox.post(
                        change.session(),
                        change.tenant(),
                        Inbox.Kind.ALLOTMENT,
                        change.poolId().toString()));
    }

    private Uni<List<String>> warnings(Change change, PoolApi.View pool, QuotaTerms terms) {
        Instant now = reservations.now();
        return database.on(connection -> ReservedAmounts.reservedByOthers(
                        connection, pool.id(), change.tenant().value(), now))
                .map(others -> {
                    List<QuotaTerms> all = new ArrayList<>(others);
                    all.add(terms);
                    return OversubscriptionWarning.warnings(
                            pool.name(),
                            OversubscriptionWarning.maxReserved(all, now.toEpochMilli(), Long.MAX_VALUE),
                            pool.up().milli());
                })
                .chain(oversold -> tenantAllotments
                        .readHeld(change.session(), change.tenant(), pool.id())
                        .map(held -> {
                            List<String> warnings = new ArrayList<>(oversold);
                            held.drainWarning(
                                            change.tenant(),
                                            pool.name(),
                                            terms.effectiveAt(now.toEpochMilli()),
                                            terms.drainByMillis())
                                    .ifPresent(warnings::add);
                            return warnings;
                        }));
    }

    private static TenantAllotments.NamedAllotment allotmentAfter(
            TenantId tenant, PoolApi.View pool, QuotaTerms terms, Optional<TenantAllotments.NamedAllotment> before) {
        Allotment allotment = new Allotment(tenant, new PoolId(pool.id().toString()), terms);
        long version = before.map(one -> one.version() + 1).orElse(0L);
        return new TenantAllotments.NamedAllotment(
                pool.name(), pool.id(), pool.topologyLevels(), pool.maxGrace(), allotment, version);
    }

    private static List<TenantAllotments.NamedAllotment> withAllotment(
            List<TenantAllotments.NamedAllotment> all, UUID pool, TenantAllotments.@Nullable NamedAllotment by) {
        List<TenantAllotments.NamedAllotment> after = new ArrayList<>(all);
        after.removeIf(one -> one.poolId().equals(pool));
        if (by != null) {
            after.add(by);
        }
        after.sort(Comparator.comparing(TenantAllotments.NamedAllotment::poolName));
        return after;
    }

    private static Optional<TenantAllotments.NamedAllotment> findByPool(
            List<TenantAllotments.NamedAllotment> all, String pool) {
        return all.stream().filter(one -> one.poolName().equals(pool)).findFirst();
    }

    private static String path(Change change) {
        return "/v1/operator/tenants/" + change.tenant() + "/" + change.resource();
    }

    private static PoolApi.TenantView tenantView(
            TenantAllotments.NamedAllotment one, PoolApi.Hardware hardware, Optional<PoolShareSource.Share> share) {
        QuotaTerms terms = one.allotment().terms();
        QuotaFields fields = QuotaFields.of(terms);
        return new PoolApi.TenantView(
                one.poolName(),
                new GpuAmount(terms.reservedGpuMilli()),
                fields.limit(),
                fields.weight(),
                fields.lendable(),
                terms.rank(),
                one.topologyLevels(),
                one.maxGrace(),
                hardware.hours(),
                share.map(PoolShareSource.Share::used).orElse(null),
                share.map(PoolShareSource.Share::fairShare).orElse(null),
                hardware.gpus(),
                hardware.largestNode(),
                hardware.maintenance());
    }
}
