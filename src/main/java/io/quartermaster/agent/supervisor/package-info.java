/**
 * The process beside each attempt, and what it needs: process groups, the attempt's folder, pausing.
 *
 * <p>Owns: the files of an attempt, signals to its processes, the end at the lease.
 *
 * <p>Does not own: calls to the service and the choice of attempts (package {@code agent}).
 *
 * <p>Invariants: the classes form a program of their own with JDK classes only; an attempt's work starts at most
 * once.
 */
@NullMarked
package io.quartermaster.agent.supervisor;

import org.jspecify.annotations.NullMarked;
