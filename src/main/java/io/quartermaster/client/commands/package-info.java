/**
 * The commands of people: contexts and logins, submitting and following work.
 *
 * <p>Owns: options and their help, which requests a command makes, and the words and tables that it prints.
 *
 * <p>Does not own: the requests themselves and the renewal of tokens ({@code client.connection}); the files
 * ({@code client.settings}); the commands for one machine ({@code cli}).
 *
 * <p>Invariants: every command has {@code -o}, an example in its help, and documented exit codes; answers go to standard
 * output, and everything else to standard error; a document that {@code -o json} prints has the fields of the API.
 */
@NullMarked
package io.quartermaster.client.commands;

import org.jspecify.annotations.NullMarked;
