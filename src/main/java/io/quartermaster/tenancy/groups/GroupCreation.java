package io.quartermaster.tenancy.groups;

import io.quartermaster.access.Caller;
import io.quartermaster.access.GroupPath;
import io.quartermaster.access.audit.AuditLog;
import io.quartermaster.access.keycloak.KeycloakAdmin;
import io.quartermaster.access.keycloak.KeycloakFailure;
import io.quartermaster.engine.model.GpuFormat;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.TenantTransactions;
import io.quartermaster.platform.db.WriteMode;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.tenancy.BlueprintCatalog;
import io.quartermaster.tenancy.RealmAdmin;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.List;
import java.util.Set;
import org.hibernate.reactive.mutiny.Mutiny;
import org.jspecify.annotations.Nullable;

/** Creates groups in a tenant's realm, within the limit of the tenant's plan. */
@ApplicationScoped
public class GroupCreation {

    private static final String CREATE = "groups:create";
    private static final String CREATE_FAILED = "groups:create-failed";

    private final KeycloakAdmin admin;
    private final BlueprintCatalog blueprintCatalog;
    private final TenantGroups groups;
    private final TenantTransactions transactions;
    private final AuditLog audit;

    GroupCreation(
            KeycloakAdmin admin,
            BlueprintCatalog blueprintCatalog,
            TenantGroups groups,
            TenantTransactions transactions,
            AuditLog audit) {
        this.admin = admin;
        this.blueprintCatalog = blueprintCatalog;
        this.groups = groups;
        this.transactions = transactions;
        this.audit = audit;
    }

    /**
     * Creates a group and those above it, or none of them. After a refusal, only groups stay to which another request
     * has added subgroups meanwhile, or which cannot be removed. The audit entries commit before the call to Keycloak,
     * so that no group is created without an entry, whatever fails afterwards. If Keycloak refuses, an entry
     * {@value #CREATE_FAILED} follows for each group that this call did not create or removed again.
     *
     * @return whether the group is new
     */
    public Uni<Boolean> create(TenantId tenant, Caller caller, GroupPath path, WriteMode mode) {
        return groups.findMissing(tenant, path)
                .chain(missingGroups -> missingGroups.missing().isEmpty()
                        ? Uni.createFrom().item(false)
                        : transactions
                                .in(tenant, mode, session -> recordCreation(session, tenant, caller, missingGroups))
                                .chain(() -> createInRealm(tenant, caller, path, missingGroups, mode))
                                .replaceWith(true));
    }

    private Uni<Void> recordCreation(
            Mutiny.Session session, TenantId tenant, Caller caller, TenantGroups.MissingGroups missingGroups) {
        return readMaxGroups(session, tenant).chain(most -> {
            requireRoom(missingGroups, most);
            return record(session, tenant, caller, CREATE, missingGroups.missing());
        });
    }

    private Uni<Void> record(
            Mutiny.Session session, TenantId tenant, Caller caller, String action, List<GroupPath> paths) {
        Uni<Void> chain = Uni.createFrom().voidItem();
        for (GroupPath one : paths) {
            GroupResource.@Nullable Group made = action.equals(CREATE) ? new GroupResource.Group(one) : null;
            chain = chain.chain(() ->
                    audit.record(session, tenant, caller, new AuditLog.Change(action, "groups" + one, null, made)));
        }
        return chain;
    }

    private Uni<Void> createInRealm(
            TenantId tenant, Caller caller, GroupPath path, TenantGroups.MissingGroups missingGroups, WriteMode mode) {
        return switch (mode) {
            case DRY_RUN -> Uni.createFrom().voidItem();
            case COMMIT ->
                admin.call(keycloak -> RealmAdmin.ensureGroupOrNone(keycloak.realm(tenant.value()), path))
                        .chain(made -> made.refusal() == null
                                ? Uni.createFrom().voidItem()
                                : recordRefusal(tenant, caller, missingGroups, made.remaining(), made.refusal()));
        };
    }

    private Uni<Void> recordRefusal(
            TenantId tenant,
            Caller caller,
            TenantGroups.MissingGroups missingGroups,
            Set<GroupPath> kept,
            KeycloakFailure refusal) {
        List<GroupPath> failed = missingGroups.missing().stream()
                .filter(group -> !kept.contains(group))
                .toList();
        return transactions
                .in(tenant, session -> record(session, tenant, caller, CREATE_FAILED, failed))
                .chain(() -> Uni.createFrom().failure(refusal));
    }

    private Uni<Integer> readMaxGroups(Mutiny.Session session, TenantId tenant) {
        return session.createNativeQuery("select plan from tenant where id = :tenant", String.class)
                .setParameter("tenant", tenant.value())
                .getSingleResultOrNull()
                .onItem()
                .ifNull()
                .failWith(ProblemException::notFound)
                .map(plan -> blueprintCatalog
                        .find(plan)
                        .orElseThrow(() -> ProblemException.conflict(
                                "no-such-plan",
                                "there is no plan " + plan + " any more, so it is unknown how many groups tenant "
                                        + tenant + " may have. Ask the operator to restore the plan"))
                        .maxGroups());
    }

    private static void requireRoom(TenantGroups.MissingGroups missingGroups, int max) {
        if (missingGroups.groups() + missingGroups.missing().size() > max) {
            throw ProblemException.refused(
                    "too-many-groups",
                    "path",
                    "the realm has " + GpuFormat.count(missingGroups.groups(), "group") + ", and the path adds "
                            + missingGroups.missing().size(),
                    "a path with which the realm has at most " + max + " groups, which the plan allows");
        }
    }
}
