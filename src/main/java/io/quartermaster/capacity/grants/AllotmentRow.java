package io.quartermaster.capacity.grants;

import jakarta.persistence.Column;
import jakarta.persistence.Embedded;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.IdClass;
import jakarta.persistence.Table;
import java.io.Serializable;
import java.util.UUID;

/** A row of {@code allotment}. */
@Entity(name = "Allotment")
@Table(name = "allotment")
@IdClass(AllotmentRow.Key.class)
class AllotmentRow {

    record Key(String tenantId, UUID poolId) implements Serializable {}

    @Id
    @Column(name = "tenant_id")
    String tenantId;

    @Id
    @Column(name = "pool_id")
    UUID poolId;

    @Embedded
    QuotaTermsColumns terms;

    /** Incremented by hand, under the lock of the tenant's quotas: the answer's ETag is needed before the flush. */
    @Column(name = "version")
    long version;

    @SuppressWarnings("NullAway.Init")
    AllotmentRow() {}

    AllotmentRow(String tenantId, UUID poolId, QuotaTerms terms) {
        this.tenantId = tenantId;
        this.poolId = poolId;
        this.terms = new QuotaTermsColumns(terms);
    }

    QuotaTerms terms() {
        return terms.terms();
    }

    void set(QuotaTerms changed) {
        terms = new QuotaTermsColumns(changed);
    }
}
