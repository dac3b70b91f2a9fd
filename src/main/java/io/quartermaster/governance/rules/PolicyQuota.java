package io.quartermaster.governance.rules;

import io.quartermaster.capacity.grants.QuotaTerms;
import io.quartermaster.engine.model.Scope;

/** What a policy grants its group in one pool, or over all pools together. */
public record PolicyQuota(Scope scope, QuotaTerms terms) {}
