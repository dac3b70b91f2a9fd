/**
 * Starts the service in this process, and holds the commands that every installation has: {@code up} with PostgreSQL,
 * Redis and Keycloak given from outside, and {@code migrate}.
 *
 * <p>Owns: the environment variables and configuration keys through which the service finds what it needs; the exit
 * codes; the choice of the command line.
 *
 * <p>Does not own: embedded parts ({@code embedded}) and the commands for one machine ({@code cli}). The service's own
 * artefact has neither; {@link io.quartermaster.launch.CommandLineFactory} finds them where they are.
 *
 * <p>Invariants: this package imports neither {@code cli} nor {@code embedded}; a failure that a person can fix ends
 * with one message and the exit code of its kind, never with a stack trace.
 */
@NullMarked
package io.quartermaster.launch;

import org.jspecify.annotations.NullMarked;
