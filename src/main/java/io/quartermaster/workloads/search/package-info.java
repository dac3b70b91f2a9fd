/**
 * The lists of workloads: filters, orders, counts, and the cancellation of all work that a filter matches.
 *
 * <p>Owns: {@code workload_label}, which triggers write, and the indexes that the orders need.
 *
 * <p>Does not own: the view of a workload ({@link io.quartermaster.workloads.WorkloadApi}).
 *
 * <p>Invariants: a list, a count and a cancellation with equal filters mean the same workloads. Counts and
 * cancellations are bounded per call.
 */
@NullMarked
package io.quartermaster.workloads.search;

import org.jspecify.annotations.NullMarked;
