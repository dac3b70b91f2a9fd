package io.quartermaster.governance;

import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.WorkerSlice;
import io.quartermaster.governance.rules.Profile;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.IdClass;
import jakarta.persistence.Table;
import java.time.Instant;
import java.util.Arrays;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.UUID;
import org.hibernate.annotations.JdbcTypeCode;
import org.hibernate.type.SqlTypes;
import org.jspecify.annotations.Nullable;

/** A row of {@code profile}. */
@Entity(name = "Profile")
@Table(name = "profile")
@IdClass(TenantRowKey.class)
public class ProfileRow {

    @Id
    @Column(name = "tenant_id")
    String tenantId;

    @Id
    @Column(name = "id")
    UUID id;

    @Column(name = "name")
    String name;

    @Column(name = "gpu_milli")
    long gpuMilli;

    @Column(name = "gpu_devices")
    int gpuDevices;

    @Column(name = "gpu_memory_mib")
    @Nullable
    Long gpuMemoryMib;

    @Column(name = "mig")
    @Nullable
    String mig;

    @Column(name = "max_gpus")
    @Nullable
    Integer maxGpus;

    @Column(name = "gpu_limit_milli")
    @Nullable
    Integer gpuLimitMilli;

    @Column(name = "workers")
    int workers;

    @Column(name = "min_workers")
    int minWorkers;

    @Column(name = "cpu_milli")
    long cpuMilli;

    @Column(name = "memory_mib")
    long memoryMib;

    @Column(name = "node_labels")
    @JdbcTypeCode(SqlTypes.JSON)
    Map<String, String> nodeLabels;

    @Column(name = "required_level")
    @Nullable
    String requiredLevel;

    @Column(name = "preferred_level")
    @Nullable
    String preferredLevel;

    @Column(name = "slice_workers")
    @Nullable
    Integer sliceWorkers;

    @Column(name = "slice_level")
    @Nullable
    String sliceLevel;

    @Column(name = "pool_ids")
    @JdbcTypeCode(SqlTypes.ARRAY)
    UUID[] poolIds;

    @Column(name = "moves_back")
    private boolean movesBack;

    @Column(name = "max_runtime_ms")
    @Nullable
    Long maxRuntimeMs;

    @Column(name = "version")
    long version;

    @Column(name = "retired_at")
    @Nullable
    Instant retiredAt;

    @SuppressWarnings("NullAway.Init")
    ProfileRow() {}

    @SuppressWarnings("NullAway.Init")
    public // set() fills the rest
    ProfileRow(String tenantId, Profile profile) {
        this.tenantId = tenantId;
        this.id = profile.id();
        set(profile);
    }

    final void set(Profile profile) {
        name = profile.name();
        gpuMilli = profile.gpuMilli().orElse(0);
        gpuDevices = 1;
        gpuMemoryMib = null;
        mig = null;
        switch (profile.gpus()) {
            case GpuRequest.Whole whole -> {}
            case GpuRequest.Fraction fraction -> gpuDevices = fraction.devices();
            case GpuRequest.Memory memory -> {
                gpuDevices = memory.devices();
                gpuMemoryMib = memory.memoryMiBEach();
            }
            case GpuRequest.Mig instance -> mig = instance.profile();
        }
        maxGpus = profile.maxGpus().isPresent() ? profile.maxGpus().getAsInt() : null;
        gpuLimitMilli =
                profile.gpuLimitMilli().isPresent() ? profile.gpuLimitMilli().getAsInt() : null;
        workers = profile.workers();
        minWorkers = profile.minWorkers();
        cpuMilli = profile.cpuMilli();
        memoryMib = profile.memoryMiB();
        nodeLabels = new TreeMap<>(profile.nodeLabels());
        requiredLevel = profile.topology().required().orElse(null);
        preferredLevel = profile.topology().preferred().orElse(null);
        sliceWorkers = profile.topology().slice().map(WorkerSlice::workers).orElse(null);
        sliceLevel = profile.topology().slice().map(WorkerSlice::level).orElse(null);
        poolIds = profile.pools().stream()
                .map(pool -> UUID.fromString(pool.value()))
                .toArray(UUID[]::new);
        movesBack = profile.movesBack();
        maxRuntimeMs = profile.maxRuntimeMillis().isPresent()
                ? profile.maxRuntimeMillis().getAsLong()
                : null;
        version = profile.version();
    }

    public Profile toProfile() {
        return new Profile(
                id,
                name,
                Profile.gpus(gpuMilli, gpuDevices, gpuMemoryMib, mig),
                maxGpus == null ? OptionalInt.empty() : OptionalInt.of(maxGpus),
                gpuLimitMilli == null ? OptionalInt.empty() : OptionalInt.of(gpuLimitMilli),
                workers,
                minWorkers,
                cpuMilli,
                memoryMib,
                new TreeMap<>(nodeLabels),
                Profile.Topology.of(requiredLevel, preferredLevel, sliceWorkers, sliceLevel),
                Arrays.stream(poolIds).map(pool -> new PoolId(pool.toString())).toList(),
                movesBack,
                maxRuntimeMs == null ? OptionalLong.empty() : OptionalLong.of(maxRuntimeMs),
                version);
    }
}
