/**
 * The program's commands.
 *
 * <p>Owns: command lines, their help, exit codes and output; reading scenario files.
 *
 * <p>Does not own: what the commands do.
 *
 * <p>Invariants: a wrong command line or file is met with a message that says where and why, never with a stack trace.
 */
@NullMarked
package io.quartermaster.cli;

import org.jspecify.annotations.NullMarked;
