package io.quartermaster.governance;

import io.quartermaster.access.AccessRule;
import io.quartermaster.access.QueueAccessRules;
import io.quartermaster.platform.EnumNames;
import io.quartermaster.platform.TenantId;
import io.smallrye.mutiny.Uni;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import org.hibernate.reactive.mutiny.Mutiny;

/**
 * The rows of {@code access_rule} as admins of queues see and change them. Every change increments the queue's
 * {@code rules_version}, which a submission compares when it writes. No submission enters by the old rules after the
 * commit.
 */
public final class QueueRules {

    private static final String INCREMENT_VERSION =
            "with counted as (update queue set rules_version = rules_version + 1 where tenant_id = :tenant and id "
                    + "= :queue) ";

    /** A rule with the id by which it is deleted. */
    public record StoredRule(UUID id, AccessRule rule) {}

    private QueueRules() {}

    public static Uni<List<StoredRule>> list(Mutiny.Session session, TenantId tenant, UUID queue) {
        return session.createNativeQuery(
                        "select id, subject_kind, subject from access_rule where tenant_id = :tenant and queue_id "
                                + "= :queue order by id",
                        Object[].class)
                .setParameter("tenant", tenant.value())
                .setParameter("queue", queue)
                .getResultList()
                .map(rows -> rows.stream()
                        .map(row -> new StoredRule(
                                (UUID) row[0],
                                AccessRule.of(
                                        EnumNames.stored(AccessRule.Kind.class, (String) row[1]), (String) row[2])))
                        .toList());
    }

    /** The rules of all queues of the tenant that have any, by queue. */
    public static Uni<Map<UUID, QueueAccessRules>> byQueue(Mutiny.Session session, TenantId tenant) {
        return session.createNativeQuery(
                        "select queue_id, subject_kind, subject from access_rule where tenant_id = :tenant",
                        Object[].class)
                .setParameter("tenant", tenant.value())
                .getResultList()
                .map(rows -> rows.stream()
                        .collect(Collectors.groupingBy(
                                row -> (UUID) row[0],
                                Collectors.collectingAndThen(
                                        Collectors.mapping(
                                                row -> AccessRule.of(
                                                        EnumNames.stored(AccessRule.Kind.class, (String) row[1]),
                                                        (String) row[2]),
                                                Collectors.toList()),
                                        QueueAccessRules::new))));
    }

    public static Uni<Void> insert(Mutiny.Session session, TenantId tenant, UUID queue, UUID id, AccessRule rule) {
        return session.createNativeQuery(INCREMENT_VERSION
                        + "insert into access_rule (tenant_id, id, queue_id, subject_kind, subject) "
                        + "values (:tenant, :id, :queue, :kind, :subject)")
                .setParameter("tenant", tenant.value())
                .setParameter("id", id)
                .setParameter("queue", queue)
                .setParameter("kind", rule.kind().word())
                .setParameter("subject", rule.subject())
                .executeUpdate()
                .replaceWithVoid();
    }

    public static Uni<Void> delete(Mutiny.Session session, TenantId tenant, UUID queue, UUID id) {
        return session.createNativeQuery(INCREMENT_VERSION
                        + "delete from access_rule where tenant_id = :tenant and queue_id = :queue and id = :id")
                .setParameter("tenant", tenant.value())
                .setParameter("queue", queue)
                .setParameter("id", id)
                .executeUpdate()
                .replaceWithVoid();
    }
}
