package io.quartermaster.capacity.grants;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.IdClass;
import jakarta.persistence.Table;
import java.io.Serializable;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A row of {@code capacity_reservation}. */
@Entity(name = "CapacityReservation")
@Table(name = "capacity_reservation")
@IdClass(CapacityReservationRow.Key.class)
class CapacityReservationRow {

    record Key(String tenantId, UUID id) implements Serializable {}

    @Id
    @Column(name = "tenant_id")
    String tenantId;

    @Id
    @Column(name = "id")
    UUID id;

    @Column(name = "pool_id")
    UUID poolId;

    @Column(name = "policy_id")
    @Nullable
    UUID policyId;

    @Column(name = "gpu_milli")
    long gpuMilli;

    @Column(name = "lendable")
    boolean lendable;

    @Column(name = "starts_at")
    Instant startsAt;

    @Column(name = "ends_at")
    Instant endsAt;

    @SuppressWarnings("NullAway.Init")
    CapacityReservationRow() {}

    CapacityReservationRow(String tenantId, CapacityReservation reservation) {
        this.tenantId = tenantId;
        this.id = reservation.id();
        this.poolId = reservation.pool();
        this.policyId = reservation.policy().orElse(null);
        this.gpuMilli = reservation.gpuMilli();
        this.lendable = reservation.lendable();
        this.startsAt = reservation.startsAt();
        this.endsAt = reservation.endsAt();
    }
}
