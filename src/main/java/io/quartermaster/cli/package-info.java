/**
 * The commands of {@code qm} for one machine: start, stop and inspect a service there, and run scenarios.
 *
 * <p>Owns: command lines for one machine, their help and output; reading scenario files; the lock
 * and the run file in the data folder; the progress lines of a start; the local demonstration's start data.
 *
 * <p>Does not own: exit codes, and the variables of external servers ({@code launch}); the processes of PostgreSQL,
 * Redis and Keycloak ({@code embedded}); the agent ({@code agent}); the decisions in a scenario ({@code engine}).
 *
 * <p>Invariants: only {@code up} starts the service; at most one service runs on a data folder; every failure that a
 * user can fix ends with one message, which gives the reason and the place, and never with a stack trace. The exit code
 * gives the kind of failure ({@link io.quartermaster.launch.ExitCodes}).
 */
@NullMarked
package io.quartermaster.cli;

import org.jspecify.annotations.NullMarked;
