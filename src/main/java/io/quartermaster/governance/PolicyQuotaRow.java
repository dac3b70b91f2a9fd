package io.quartermaster.governance;

import io.quartermaster.capacity.grants.QuotaTermsColumns;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.governance.rules.PolicyQuota;
import jakarta.persistence.Column;
import jakarta.persistence.Embeddable;
import jakarta.persistence.Embedded;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A row of {@code policy_quota}: part of its policy, read and written together with it. */
@Embeddable
class PolicyQuotaRow {

    /** Null for the quota over all pools together. */
    @Column(name = "pool_id")
    @Nullable
    UUID poolId;

    @Embedded
    QuotaTermsColumns terms;

    @SuppressWarnings("NullAway.Init")
    PolicyQuotaRow() {}

    PolicyQuotaRow(PolicyQuota quota) {
        poolId = switch (quota.scope()) {
            case Scope.AllPools all -> null;
            case Scope.OnePool one -> UUID.fromString(one.pool().value());
        };
        terms = new QuotaTermsColumns(quota.terms());
    }

    PolicyQuota toQuota() {
        Scope scope = poolId == null ? Scope.ALL_POOLS : Scope.of(new PoolId(poolId.toString()));
        return new PolicyQuota(scope, terms.terms());
    }
}
