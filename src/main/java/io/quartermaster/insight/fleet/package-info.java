/**
 * What the operator sees of the work of all tenants: what runs on which node and GPU, the list of all workloads, and
 * what waits for which reason.
 *
 * <p>Owns: reading these views, in the system role.
 *
 * <p>Does not own: the nodes and their GPUs ({@code capacity.inventory}), the workloads ({@code workloads}).
 *
 * <p>Invariants: no view has a command line, an environment, labels or output of a workload. Nothing is written.
 */
@NullMarked
package io.quartermaster.insight.fleet;

import org.jspecify.annotations.NullMarked;
