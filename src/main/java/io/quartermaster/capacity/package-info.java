/**
 * What there is and who was granted how much of it: clusters, pools, nodes and their GPUs, and the tenants' allotments and
 * capacity reservations.
 *
 * <p>Owns: the tables {@code cluster}, {@code pool}, {@code node}, {@code allotment} and {@code capacity_reservation}.
 *
 * <p>Does not own: {@code gpu} and {@code node_contact}, which agents report (package {@code execution} writes them, this package shows
 * them); what a tenant makes of its allotment (package {@code governance}).
 *
 * <p>Invariants: clusters, pools and nodes are retired, never deleted; an allotment is never cut below what the tenant's policies reserve
 * from it; lendable &lt;= reserved &lt;= limit; a capacity reservation that has begun is never removed, it ends; a node that cannot keep tenants apart serves one tenant only. A tenant sees the pools it
 * has an allotment in, and of those its own figures only.
 */
@NullMarked
package io.quartermaster.capacity;

import org.jspecify.annotations.NullMarked;
