package io.quartermaster.tenancy;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.access.Caller;
import io.quartermaster.access.GroupPath;
import io.quartermaster.access.IdentityConfig;
import io.quartermaster.access.IssuerDirectory;
import io.quartermaster.access.Realm;
import io.quartermaster.access.audit.AuditLog;
import io.quartermaster.engine.model.GpuFormat;
import io.quartermaster.platform.EnumNames;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.WriteMode;
import io.quartermaster.platform.http.MergePatch;
import io.quartermaster.platform.http.PrintableText;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.inbox.Inbox;
import io.quartermaster.platform.operations.Operation;
import io.quartermaster.platform.operations.OperationStore;
import io.quartermaster.platform.writes.WriteParams;
import io.quartermaster.platform.writes.WriteReply;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.SqlConnection;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** Creates, changes and offboards tenants. */
@ApplicationScoped
class TenantService {

    static final int MAX_NAME_LENGTH = 128;
    /** Names of realms that no tenant may have. */
    private static final Set<String> RESERVED = Set.of(Realm.OPERATOR_NAME, "master");

    /** A request for a tenant. */
    @Schema(name = "TenantRequest")
    public record NewTenant(
            @Schema(required = true) @Nullable String id,
            @Nullable String displayName,
            @Schema(required = true) @Nullable String plan,
            @Nullable List<GroupPath> groups) {}

    /** A change of a tenant; absent fields stay unchanged. */
    @Schema(name = "TenantPatch")
    public record TenantChange(
            @Schema(description = "Name for people; null returns to the id of the tenant.") @Nullable
            String displayName,

            @Schema(description = "The requested state. Null is refused.") @Nullable
            Wish state) {

        /** The states that a request can ask for. */
        @Schema(name = "TenantWish")
        public enum Wish {
            ACTIVE,
            SUSPENDED
        }
    }

    private final TenantStore tenants;
    private final OperationStore operations;
    private final ProvisionTenant provisioning;
    private final OffboardTenant offboarding;
    private final BlueprintCatalog blueprintCatalog;
    private final TenancyConfig config;
    private final IdentityConfig identity;
    private final IssuerDirectory issuerDirectory;
    private final AuditLog audit;
    private final ObjectMapper json;

    TenantService(
            TenantStore tenants,
            OperationStore operations,
            ProvisionTenant provisioning,
            OffboardTenant offboarding,
            BlueprintCatalog blueprintCatalog,
            TenancyConfig config,
            IdentityConfig identity,
            IssuerDirectory issuerDirectory,
            AuditLog audit,
            ObjectMapper json) {
        this.json = json;
        this.tenants = tenants;
        this.operations = operations;
        this.provisioning = provisioning;
        this.offboarding = offboarding;
        this.blueprintCatalog = blueprintCatalog;
        this.config = config;
        this.identity = identity;
        this.issuerDirectory = issuerDirectory;
        this.audit = audit;
    }

    TenantSpec check(@Nullable NewTenant wanted) {
        if (wanted == null) {
            throw ProblemException.invalid("body", "is missing", "a tenant: id, displayName, plan");
        }
        String id = wanted.id() == null ? "" : wanted.id();
        String name = wanted.displayName() == null ? id : wanted.displayName();
        String plan = wanted.plan() == null ? "" : wanted.plan();
        List<GroupPath> groups = wanted.groups() == null ? List.of() : wanted.groups();
        Optional<Blueprint> blueprint = blueprintCatalog.find(plan);
        ProblemException.Invalid invalid = new ProblemException.Invalid()
                .check(
                        TenantId.isValid(id),
                        "id",
                        wanted.id() == null ? "is missing" : "\"" + id + "\" is not an id of a tenant",
                        TenantId.ACCEPTED)
                .check(!RESERVED.contains(id), "id", "this name is reserved for the service itself", TenantId.ACCEPTED)
                .check(
                        blueprint.isPresent(),
                        "plan",
                        wanted.plan() == null ? "is missing" : "there is no plan \"" + plan + "\"",
                        String.join(", ", blueprintCatalog.names()))
                .check(
                        isName(name),
                        "displayName",
                        "empty, too long or not printable",
                        "1 to " + MAX_NAME_LENGTH + " printable characters");
        blueprint.ifPresent(known -> invalid.check(
                groups.size() <= known.maxGroups(),
                "groups",
                "more groups than the plan allows",
                "at most " + known.maxGroups()));
        invalid.throwIfAny();
        if (blueprint.orElseThrow().demo() && !config.demo()) {
            throw ProblemException.refused(
                    "demo-plan",
                    "plan",
                    "tenants of a demo plan have users with known passwords, and this service is no demonstration",
                    "another plan");
        }
        return new TenantSpec(new TenantId(id), name, plan, groups);
    }

    private static boolean isName(String name) {
        return !name.isBlank() && name.length() <= MAX_NAME_LENGTH && PrintableText.isPrintable(name);
    }

    /** Answers 202 with the operation; a repeated request gets the same operation. */
    Uni<WriteReply> create(SqlConnection connection, Caller caller, TenantSpec spec) {
        return tenants.insert(connection, spec, identity.issuerOf(spec.id().value()))
                .chain(isNew -> isNew ? startProvisioning(connection, caller, spec) : findOrRestart(connection, spec))
                .map(operation -> WriteReply.accepted("/v1/operator/operations/" + operation.id(), operation));
    }

    private Uni<Operation> startProvisioning(SqlConnection connection, Caller caller, TenantSpec spec) {
        return audit.record(
                        connection,
                        spec.id(),
                        caller,
                        new AuditLog.Change("tenants:create", "tenants/" + spec.id(), null, spec))
                .chain(() ->
                        operations.insert(connection, spec.id(), ProvisionTenant.KIND, spec, provisioning.steps()));
    }

    private Uni<Operation> findOrRestart(SqlConnection connection, TenantSpec spec) {
        return tenants.lock(connection, spec.id())
                .invoke(found -> requireNotDeleted(found.orElseThrow()))
                .chain(() -> restartProvisioning(connection, spec));
    }

    private static void requireNotDeleted(Tenant tenant) {
        switch (tenant.state()) {
            case OFFBOARDING, DELETED ->
                throw ProblemException.conflict(
                        "tenant-exists",
                        "there was a tenant " + tenant.id() + "; its usage stays, so its id is not used again");
            case PROVISIONING, ACTIVE, SUSPENDED, FAILED -> {}
        }
    }

    private Uni<Operation> restartProvisioning(SqlConnection connection, TenantSpec spec) {
        return operations.last(connection, spec.id(), ProvisionTenant.KIND).chain(found -> {
            OperationStore.Claim before = found.orElseThrow();
            requireSame(provisioning.spec(before), spec);
            return before.operation().state() == Operation.State.FAILED
                    ? tenants.move(connection, spec.id(), TenantState.FAILED, TenantState.PROVISIONING)
                            .chain(() -> operations.restart(
                                    connection, before.operation().id()))
                    : Uni.createFrom().item(before.operation());
        });
    }

    private static void requireSame(TenantSpec before, TenantSpec now) {
        List<String> different = new ArrayList<>();
        if (!before.displayName().equals(now.displayName())) {
            different.add("displayName");
        }
        if (!before.plan().equals(now.plan())) {
            different.add("plan");
        }
        if (!before.groups().equals(now.groups())) {
            different.add("groups");
        }
        if (!different.isEmpty()) {
            throw ProblemException.conflict(
                    "tenant-exists",
                    "there is a tenant " + now.id() + " already, with other values of "
                            + String.join(" and ", different) + " than the request states");
        }
    }

    Uni<WriteReply> change(SqlConnection connection, Caller caller, TenantId id, WriteParams params, MergePatch patch) {
        TenantChange change = validate(patch, id);
        return tenants.lock(connection, id).chain(found -> {
            Tenant before = found.orElseThrow(ProblemException::notFound);
            params.requireVersion(before.version());
            Tenant wish = changed(before, change);
            if (wish.equals(before)) {
                return Uni.createFrom().item(WriteReply.ok(before, before.version()));
            }
            return tenants.update(connection, wish)
                    .call(() -> Inbox.post(connection, id, Inbox.Kind.TENANT, id.value()))
                    .call(after -> audit.record(
                            connection,
                            id,
                            caller,
                            new AuditLog.Change(action(before, after), "tenants/" + id, before, after)))
                    .map(after -> WriteReply.ok(after, after.version()));
        });
    }

    private TenantChange validate(MergePatch patch, TenantId id) {
        patch.requireValue("state", EnumNames.accepted(TenantChange.Wish.class));
        TenantChange asked = patch.applyTo(new TenantChange(null, null), TenantChange.class, json);
        boolean resetsName = patch.patch().path("displayName").isNull();
        TenantChange wanted = resetsName ? new TenantChange(id.value(), asked.state()) : asked;
        if (wanted.displayName() != null && !isName(wanted.displayName())) {
            throw ProblemException.invalid(
                    "displayName",
                    "empty, too long or not printable",
                    "1 to " + MAX_NAME_LENGTH + " printable characters");
        }
        return wanted;
    }

    private static Tenant changed(Tenant before, TenantChange change) {
        return new Tenant(
                before.id(),
                change.displayName() == null ? before.displayName() : change.displayName(),
                before.plan(),
                change.state() == null ? before.state() : nextState(before.state(), change.state()),
                before.issuer(),
                before.createdAt(),
                before.updatedAt(),
                before.version());
    }

    /**
     * The state after a change. Only an active tenant can be suspended, and only a suspended one resumed. A request for
     * the current state changes nothing.
     */
    private static TenantState nextState(TenantState now, TenantChange.Wish wish) {
        TenantState wanted =
                switch (wish) {
                    case ACTIVE -> TenantState.ACTIVE;
                    case SUSPENDED -> TenantState.SUSPENDED;
                };
        return switch (now) {
            case ACTIVE, SUSPENDED -> wanted;
            case PROVISIONING, FAILED, OFFBOARDING, DELETED ->
                throw ProblemException.conflict(
                        "wrong-state",
                        "the tenant is " + EnumNames.of(now)
                                + "; only an active or suspended one can be suspended or resumed");
        };
    }

    private static String action(Tenant before, Tenant after) {
        if (before.state() == after.state()) {
            return "tenants:update";
        }
        return after.state() == TenantState.SUSPENDED ? "tenants:suspend" : "tenants:resume";
    }

    /** Answers 202 with the operation; a repeated request gets the same operation. */
    Uni<WriteReply> offboard(SqlConnection connection, Caller caller, TenantId id) {
        return tenants.lock(connection, id)
                .map(found -> found.orElseThrow(ProblemException::notFound))
                .chain(tenant -> switch (tenant.state()) {
                    case PROVISIONING, SUSPENDED, FAILED -> startOffboarding(connection, caller, tenant);
                    case OFFBOARDING, DELETED -> restartOffboarding(connection, id);
                    case ACTIVE ->
                        throw ProblemException.conflict(
                                "wrong-state",
                                "the tenant " + id + " is active; suspend it by PATCH with state suspended first");
                })
                .map(operation -> WriteReply.accepted("/v1/operator/operations/" + operation.id(), operation));
    }

    private Uni<Operation> startOffboarding(SqlConnection connection, Caller caller, Tenant tenant) {
        return operations
                .last(connection, tenant.id(), ProvisionTenant.KIND)
                .map(Optional::orElseThrow)
                .call(made -> requireNothingHeld(connection, made))
                .call(made -> operations.cancel(
                        connection, made.operation(), "the tenant was offboarded before its provisioning ended"))
                .chain(made -> tenants.update(connection, withState(tenant, TenantState.OFFBOARDING))
                        .call(after -> audit.record(
                                connection,
                                tenant.id(),
                                caller,
                                new AuditLog.Change("tenants:offboard", "tenants/" + tenant.id(), tenant, after)))
                        .chain(() -> operations.insert(
                                connection,
                                tenant.id(),
                                OffboardTenant.KIND,
                                provisioning.spec(made),
                                offboarding.steps())));
    }

    private Uni<Void> requireNothingHeld(SqlConnection connection, OperationStore.Claim made) {
        return OffboardTenant.countHeld(connection, provisioning.spec(made))
                .invoke(held -> {
                    if (held > 0) {
                        throw ProblemException.conflict(
                                "in-use",
                                GpuFormat.count(held, "attempt") + " of the tenant "
                                        + made.operation().tenant() + (held == 1 ? " holds" : " hold")
                                        + " devices; cancel the workloads, or wait until they end");
                    }
                })
                .replaceWithVoid();
    }

    private Uni<Operation> restartOffboarding(SqlConnection connection, TenantId id) {
        return operations
                .last(connection, id, OffboardTenant.KIND)
                .map(found -> found.orElseThrow().operation())
                .chain(operation -> operation.state() == Operation.State.FAILED
                        ? operations.restart(connection, operation.id())
                        : Uni.createFrom().item(operation));
    }

    private static Tenant withState(Tenant tenant, TenantState state) {
        return new Tenant(
                tenant.id(),
                tenant.displayName(),
                tenant.plan(),
                state,
                tenant.issuer(),
                tenant.createdAt(),
                tenant.updatedAt(),
                tenant.version());
    }

    /** Reloads the directory of issuers after the commit, since the change may make tokens valid or invalid. */
    Uni<Void> committed(WriteMode mode) {
        return switch (mode) {
            case COMMIT -> issuerDirectory.reload();
            case DRY_RUN -> Uni.createFrom().voidItem();
        };
    }
}
