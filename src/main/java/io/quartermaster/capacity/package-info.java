/**
 * The capacity and its grants: clusters, pools, nodes and their GPUs, and the tenants' allotments and capacity
 * reservations.
 *
 * <p>Owns: the tables {@code cluster}, {@code pool}, {@code node}, {@code allotment} and {@code capacity_reservation}.
 *
 * <p>Does not own: {@code gpu} and {@code node_contact}, which agents report (package {@code execution} writes them,
 * this package shows them); the policies that divide a tenant's allotment (package {@code governance}).
 *
 * <p>Invariants: clusters, pools and nodes are retired, never deleted; an allotment is never cut below what the
 * tenant's policies reserve from it; lendable &lt;= reserved &lt;= limit; a capacity reservation that has begun is
 * never removed, it ends; a node that cannot isolate tenants serves one tenant only. A tenant sees only the pools in
 * which it has an allotment, and only its own figures of them.
 */
@NullMarked
package io.quartermaster.capacity;

import org.jspecify.annotations.NullMarked;
