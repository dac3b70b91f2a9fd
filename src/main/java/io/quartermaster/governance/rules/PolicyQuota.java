package io.quartermaster.governance.rules;

import io.quartermaster.capacity.grants.QuotaTerms;
import io.quartermaster.engine.model.Scope;

/** The grant of a policy to its group in one pool, or over all pools together. */
public record PolicyQuota(Scope scope, QuotaTerms terms) {}
