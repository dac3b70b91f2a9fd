/**
 * The output of workloads as a stream of lines.
 *
 * <p>Owns: the streams of all readers on this replica, and the ids from which a stream resumes.
 *
 * <p>Does not own: the stored output (agents report the end of it with their attempts).
 *
 * <p>Invariants: a stream that resumes with its last id repeats no line and leaves none out unnoticed: output that is
 * no longer stored is announced by an event {@code gap}. A stream ends at the latest when its token expires.
 */
@NullMarked
package io.quartermaster.workloads.logs;

import org.jspecify.annotations.NullMarked;
