/**
 * States where the people of a tenant sign in from their command line.
 *
 * <p>Owns: the route without a token that names the issuer and the client of a tenant's command line.
 *
 * <p>Does not own: the client in the realm (blueprints, {@code tenancy}); the check of tokens ({@code access}).
 *
 * <p>Invariants: the answer depends on the name in the request and on settings alone. It is the same for a tenant that
 * exists, that existed, and that never existed.
 */
@NullMarked
package io.quartermaster.tenancy.signin;

import org.jspecify.annotations.NullMarked;
