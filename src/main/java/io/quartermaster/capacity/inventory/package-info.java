/**
 * The inventory: clusters, pools, nodes and their GPUs.
 *
 * <p>Owns: the tables {@code cluster}, {@code pool} and {@code node}, their resources and checks.
 *
 * <p>Does not own: {@code gpu} and {@code node_contact}, which agents report and {@code execution} writes.
 *
 * <p>Invariants: clusters, pools and nodes are retired, never deleted; a node that cannot isolate tenants serves one
 * tenant only.
 */
@NullMarked
package io.quartermaster.capacity.inventory;

import org.jspecify.annotations.NullMarked;
