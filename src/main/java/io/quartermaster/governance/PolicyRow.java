package io.quartermaster.governance;

import io.quartermaster.access.GroupPath;
import io.quartermaster.governance.rules.Policy;
import io.quartermaster.governance.rules.PolicyQuota;
import io.quartermaster.governance.rules.PreemptionAction;
import io.quartermaster.governance.rules.SubmissionRights;
import io.quartermaster.platform.EnumNames;
import jakarta.persistence.CollectionTable;
import jakarta.persistence.Column;
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.IdClass;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.Table;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A row of {@code policy} with its rows of {@code policy_quota}. */
@Entity(name = "Policy")
@Table(name = "policy")
@IdClass(TenantRowKey.class)
class PolicyRow {

    @Id
    @Column(name = "tenant_id")
    String tenantId;

    @Id
    @Column(name = "id")
    UUID id;

    @Column(name = "name")
    String name;

    @Column(name = "group_path")
    String groupPath;

    @Column(name = "over_quota")
    boolean overQuota;

    @Column(name = "on_preemption")
    String onPreemption;

    @Column(name = "grace_ms")
    long graceMs;

    @Column(name = "user_limit_milli")
    @Nullable
    Long userLimitMilli;

    @Column(name = "max_running")
    @Nullable
    Integer maxRunning;

    @Column(name = "max_priority")
    @Nullable
    Integer maxPriority;

    @Column(name = "non_preemptible")
    boolean nonPreemptible;

    @Column(name = "drift_since")
    @Nullable
    Instant driftSince;

    @Column(name = "version")
    long version;

    @Column(name = "retired_at")
    @Nullable
    Instant retiredAt;

    /** A bag, which is written as a whole: its rows have no key of their own, because the pool may be null. */
    @ElementCollection
    @CollectionTable(
            name = "policy_quota",
            joinColumns = {
                @JoinColumn(name = "tenant_id", referencedColumnName = "tenant_id"),
                @JoinColumn(name = "policy_id", referencedColumnName = "id")
            })
    List<PolicyQuotaRow> quotas = new ArrayList<>();

    @SuppressWarnings("NullAway.Init")
    PolicyRow() {}

    @SuppressWarnings("NullAway.Init") // set() fills the rest
    PolicyRow(String tenantId, Policy policy) {
        this.tenantId = tenantId;
        this.id = policy.id();
        set(policy);
    }

    final void set(Policy policy) {
        name = policy.name();
        groupPath = policy.group().value();
        overQuota = policy.overQuota();
        onPreemption = EnumNames.of(policy.onPreemption());
        graceMs = policy.graceMillis();
        userLimitMilli = policy.userLimitGpuMilli().isPresent()
                ? policy.userLimitGpuMilli().getAsLong()
                : null;
        maxRunning = policy.maxRunning().isPresent() ? policy.maxRunning().getAsInt() : null;
        OptionalInt highest = policy.rights().maxPriority();
        maxPriority = highest.isPresent() ? highest.getAsInt() : null;
        nonPreemptible = policy.rights().nonPreemptible();
        driftSince = policy.groupGoneSince().orElse(null);
        version = policy.version();
        quotas.clear();
        policy.quotas().forEach(quota -> quotas.add(new PolicyQuotaRow(quota)));
    }

    Policy toPolicy() {
        return new Policy(
                id,
                name,
                new GroupPath(groupPath),
                quotas.stream()
                        .map(PolicyQuotaRow::toQuota)
                        .sorted(Comparator.comparing(PolicyQuota::scope))
                        .toList(),
                overQuota,
                EnumNames.stored(PreemptionAction.class, onPreemption),
                graceMs,
                userLimitMilli == null ? OptionalLong.empty() : OptionalLong.of(userLimitMilli),
                maxRunning == null ? OptionalInt.empty() : OptionalInt.of(maxRunning),
                new SubmissionRights(
                        maxPriority == null ? OptionalInt.empty() : OptionalInt.of(maxPriority), nonPreemptible),
                Optional.ofNullable(driftSince),
                version);
    }
}
