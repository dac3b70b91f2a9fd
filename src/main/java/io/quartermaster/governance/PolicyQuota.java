package io.quartermaster.governance;

import io.quartermaster.capacity.QuotaTerms;
import io.quartermaster.engine.Scope;

/** What a policy grants its group in one pool, or over all pools together. */
public record PolicyQuota(Scope scope, QuotaTerms terms) {}
