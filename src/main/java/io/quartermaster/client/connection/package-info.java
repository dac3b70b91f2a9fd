/**
 * Requests of a person's command line to the service and to the realm where people sign in.
 *
 * <p>Owns: the choice of server, tenant and token from options, variables and files; signing in, renewing and ending a
 * login; sending requests, repeating them when that is safe, and turning problems into messages and exit codes.
 *
 * <p>Does not own: the files ({@code client.settings}); which requests a command makes ({@code client.jobs}).
 *
 * <p>Invariants: a request that writes is repeated only with its {@code Idempotency-Key}; a token is sent to the server
 * and the issuer that it belongs to, and nowhere else; no message contains a token or a secret.
 */
@NullMarked
package io.quartermaster.client.connection;

import org.jspecify.annotations.NullMarked;
