/**
 * Live counters of a tenant in Redis, and live usage.
 *
 * <p>Owns: the Redis keys of counters, their rebuilding from PostgreSQL.
 *
 * <p>Does not own: what the leader decides.
 *
 * <p>Invariants: Redis may lose everything: counters are rebuilt, and too much may wait meanwhile but never too
 * much run.
 */
@NullMarked
package io.quartermaster.workloads.counters;

import org.jspecify.annotations.NullMarked;
