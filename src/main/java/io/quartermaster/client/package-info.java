/**
 * The program {@code qm} of people, which needs no repository and no service on the machine.
 *
 * <p>Owns: the entry point of the small distribution, and its answers to wrong options.
 *
 * <p>Does not own: the commands ({@code client.jobs}, {@code client.session}); the commands for one machine
 * ({@code cli}).
 *
 * <p>Invariants: this package and those below it use the JDK, picocli, Jackson, SnakeYAML and JSpecify only, and no
 * class of the service.
 */
@NullMarked
package io.quartermaster.client;

import org.jspecify.annotations.NullMarked;
