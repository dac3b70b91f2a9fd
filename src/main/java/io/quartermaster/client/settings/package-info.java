/**
 * The files of a person's command line: contexts and logins.
 *
 * <p>Owns: the folder of these files; {@code config.yaml} with a server and a tenant per context; {@code tokens.json}
 * with the logins.
 *
 * <p>Does not own: the requests by which tokens are made and renewed ({@code client.connection}).
 *
 * <p>Invariants: tokens are in {@code tokens.json} alone, which only its owner can read (mode 0600); each write
 * replaces a file in one step; a file with an unknown key is refused and stays unchanged.
 */
@NullMarked
package io.quartermaster.client.settings;

import org.jspecify.annotations.NullMarked;
