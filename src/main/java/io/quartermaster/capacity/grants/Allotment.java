package io.quartermaster.capacity.grants;

import io.quartermaster.engine.model.PoolId;
import io.quartermaster.platform.TenantId;

/** The operator's grant to a tenant in a pool: the top of the tenant's subtree in that pool's quota tree. */
public record Allotment(TenantId tenant, PoolId pool, QuotaTerms terms) {}
