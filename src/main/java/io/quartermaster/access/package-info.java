/**
 * Authentication and authorization of callers.
 *
 * <p>Owns: the check of tokens (one realm per tenant), {@link io.quartermaster.access.Caller}, roles and permissions,
 * the gate in front of every route, the tables {@code access_rule} and {@code audit_entry}.
 *
 * <p>Does not own: realms and their users (Keycloak stores them, {@code tenancy} creates them); finer rules inside a
 * capability, such as that a member cancels only its own work.
 *
 * <p>Invariants: a token of an unknown issuer causes no outgoing call; a tenant's caller learns nothing of another
 * tenant, not even that it exists; a route that states no permission is refused; a suspended tenant's caller can read,
 * but change nothing; a token ends with its expiry, soon after its key is removed, and soon after its user is disabled;
 * the operator's roles are valid in the operator's realm only.
 */
@NullMarked
package io.quartermaster.access;

import org.jspecify.annotations.NullMarked;
