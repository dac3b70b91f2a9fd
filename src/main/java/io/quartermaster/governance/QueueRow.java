package io.quartermaster.governance;

import io.quartermaster.engine.model.QueueOrder;
import io.quartermaster.governance.rules.Queue;
import io.quartermaster.governance.rules.QueueState;
import io.quartermaster.platform.EnumNames;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.IdClass;
import jakarta.persistence.Table;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A row of {@code queue}. */
@Entity(name = "Queue")
@Table(name = "queue")
@IdClass(TenantRowKey.class)
class QueueRow {

    @Id
    @Column(name = "tenant_id")
    String tenantId;

    @Id
    @Column(name = "id")
    UUID id;

    @Column(name = "name")
    String name;

    @Column(name = "policy_id")
    UUID policyId;

    @Column(name = "profile_id")
    UUID profileId;

    @Column(name = "over_quota")
    boolean overQuota;

    @Column(name = "max_waiting")
    int maxWaiting;

    @Column(name = "state")
    String state;

    @Column(name = "start_order")
    String order;

    @Column(name = "version")
    long version;

    @Column(name = "retired_at")
    @Nullable
    Instant retiredAt;

    @SuppressWarnings("NullAway.Init")
    QueueRow() {}

    @SuppressWarnings("NullAway.Init") // set() fills the rest
    QueueRow(String tenantId, Queue queue) {
        this.tenantId = tenantId;
        this.id = queue.id();
        set(queue);
    }

    final void set(Queue queue) {
        name = queue.name();
        policyId = queue.policy();
        profileId = queue.profile();
        overQuota = queue.terms().overQuota();
        maxWaiting = queue.terms().maxWaiting();
        state = EnumNames.of(queue.terms().state());
        order = EnumNames.of(queue.terms().order());
        version = queue.version();
    }

    Queue toQueue() {
        Queue.Terms terms = new Queue.Terms(
                overQuota,
                maxWaiting,
                EnumNames.stored(QueueState.class, state),
                EnumNames.stored(QueueOrder.class, order));
        return new Queue(id, name, policyId, profileId, terms, version);
    }
}
