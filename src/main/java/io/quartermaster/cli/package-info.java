/**
 * The commands of {@code qm}: start and stop a service on this machine, and look at it.
 *
 * <p>Owns: options and their environment variables, the lock and the run file in the data folder, what people see while the service starts,
 * the local demonstration's start data.
 *
 * <p>Does not own: how PostgreSQL, Redis and Keycloak are run ({@code embedded}); the agent and simulator programs, whose commands live with
 * them.
 *
 * <p>Invariants: only {@code up} starts the service; at most one service runs on a data folder; every failure a person can mend ends with
 * one message and the exit code of its kind ({@link io.quartermaster.cli.ExitCodes}).
 */
@NullMarked
package io.quartermaster.cli;

import org.jspecify.annotations.NullMarked;
