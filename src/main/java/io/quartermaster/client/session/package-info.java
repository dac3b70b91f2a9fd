/**
 * The commands with which people choose a server and a tenant, and sign in.
 *
 * <p>Owns: the options, texts and documents of these commands; the completion scripts of
 * shells; the manual pages.
 *
 * <p>Does not own: the files ({@code client.settings}); the requests to the realm ({@code client.connection}).
 *
 * <p>Invariants: no output of these commands contains a token or a secret.
 */
@NullMarked
package io.quartermaster.client.session;

import org.jspecify.annotations.NullMarked;
