/**
 * The parts that all commands of people share.
 *
 * <p>Owns: the options of every command and its end; the environment of a command; the list of commands; the claims
 * of a token as a person reads them.
 *
 * <p>Does not own: the commands ({@code client.session}, {@code client.jobs}); requests ({@code client.connection});
 * files ({@code client.settings}); the commands for one machine ({@code cli}).
 *
 * <p>Invariants: every command has {@code -o}, an example in its help, and documented exit codes. Answers go to
 * standard output, and everything else to standard error. A failure ends with a message, never with a stack trace.
 */
@NullMarked
package io.quartermaster.client.commands;

import org.jspecify.annotations.NullMarked;
