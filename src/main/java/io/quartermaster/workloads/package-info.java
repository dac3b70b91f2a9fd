/**
 * Workloads as members see them: submit, list, watch, explain, cancel, hold, release, logs; the lifecycle of a workload
 * and its attempts; the submission admission, and the live counters.
 *
 * <p>Owns: the rows of {@code workload} as they are submitted, and their desired states; the Redis keys
 * {@code qm:{tenant}:admission} and {@code qm:{tenant}:counters}.
 *
 * <p>Does not own: states, attempts, reasons, nominations and the feed, which the leader writes and this package only
 * reads; queues, policies and profiles, which governance owns.
 *
 * <p>Invariants: a workload and the inbox row that names it commit together; an admission never edits a published
 * counter. If Redis loses data, too many workloads may wait, but never too many run. A state changes only into one that
 * {@link io.quartermaster.workloads.WorkloadState} or {@link io.quartermaster.workloads.WorkloadAttemptState} offers.
 */
@NullMarked
package io.quartermaster.workloads;

import org.jspecify.annotations.NullMarked;
