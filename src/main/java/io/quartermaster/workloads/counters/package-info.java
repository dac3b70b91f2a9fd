/**
 * Live counters of a tenant in Redis, and live usage.
 *
 * <p>Owns: the Redis keys of counters, their rebuilding from PostgreSQL.
 *
 * <p>Does not own: the leader's decisions.
 *
 * <p>Invariants: Redis may lose everything: counters are rebuilt. In the meantime too many workloads may wait, but
 * never too many run.
 */
@NullMarked
package io.quartermaster.workloads.counters;

import org.jspecify.annotations.NullMarked;
