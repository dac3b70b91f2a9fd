/**
 * Work as members see it: submit, list, watch, explain, cancel, hold, release, logs; the lifecycle of a workload and its attempts; the
 * admission that every submission passes, and the live counters.
 *
 * <p>Owns: the rows of {@code workload} as they are submitted and their wishes; the Redis keys {@code qm:{tenant}:admission} and
 * {@code qm:{tenant}:counters}.
 *
 * <p>Does not own: states, attempts, reasons, nominations and the feed, which the leader writes and this package only reads; queues,
 * policies and profiles, which are governance's.
 *
 * <p>Invariants: a workload and the inbox row that names it commit together; an admission never edits a published counter; what Redis
 * loses may let too much wait, never too much run; no state changes into one that {@link io.quartermaster.workloads.WorkloadState} or
 * {@link io.quartermaster.workloads.AttemptState} does not offer.
 */
@NullMarked
package io.quartermaster.workloads;

import org.jspecify.annotations.NullMarked;
