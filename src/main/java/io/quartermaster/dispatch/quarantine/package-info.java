/**
 * Poison rows and quarantine: inputs that make plans fail are found, excluded with an alarm, and retried.
 *
 * <p>Owns: the search for the row to blame, the retry of quarantined entries, the operator's resource.
 *
 * <p>Does not own: the exclusion itself while tables are read (package {@code dispatch.read}).
 *
 * <p>Invariants: one bad row stops its own workload or tenant, never the cell.
 */
@NullMarked
package io.quartermaster.dispatch.quarantine;

import org.jspecify.annotations.NullMarked;
