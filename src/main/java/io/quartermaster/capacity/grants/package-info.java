/**
 * The grants of capacity: allotments, overrides, capacity reservations.
 *
 * <p>Owns: the tables {@code allotment} and {@code capacity_reservation}, their resources and checks.
 *
 * <p>Does not own: the policies that divide a tenant's grant (package {@code governance}).
 *
 * <p>Invariants: an allotment is never cut below what the policies of the tenant reserve; lendable &lt;= reserved
 * &lt;= limit; a reservation that has begun ends, it is never removed.
 */
@NullMarked
package io.quartermaster.capacity.grants;

import org.jspecify.annotations.NullMarked;
