/**
 * The commands of {@code qm}: start and stop a service on this machine, look at it, run scenarios.
 *
 * <p>Owns: command lines, their help, environment variables, exit codes and output; reading scenario files; the lock and the run file in the data folder, what people see while the service starts,
 * the local demonstration's start data.
 *
 * <p>Does not own: how PostgreSQL, Redis and Keycloak are run ({@code embedded}); the agent ({@code agent}); what a scenario decides
 * ({@code engine}).
 *
 * <p>Invariants: only {@code up} starts the service; at most one service runs on a data folder; every failure a person can mend ends with
 * one message that says what and where, never with a stack trace, and the exit code of its kind ({@link io.quartermaster.cli.ExitCodes}).
 */
@NullMarked
package io.quartermaster.cli;

import org.jspecify.annotations.NullMarked;
