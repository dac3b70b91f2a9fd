/**
 * The supervisor process of each attempt, and its parts: process groups, the attempt's folder, pausing.
 *
 * <p>Owns: the files of an attempt, signals to its processes, the end of work when the lease expires.
 *
 * <p>Does not own: calls to the service and the choice of attempts (package {@code agent}).
 *
 * <p>Invariants: the classes form a separate program that uses only the JDK; an attempt's work starts at most once.
 */
@NullMarked
package io.quartermaster.agent.supervisor;

import org.jspecify.annotations.NullMarked;
