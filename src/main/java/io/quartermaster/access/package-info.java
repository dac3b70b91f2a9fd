/**
 * Who is calling, and whether they may.
 *
 * <p>Owns: the check of tokens (one realm per tenant), {@link io.quartermaster.access.Caller}, roles and permissions, the gate in front of
 * every route, the tables {@code access_rule} and {@code audit_entry}.
 *
 * <p>Does not own: realms and their users (Keycloak has them, {@code tenancy} makes them); what a permission's holder may do inside a
 * capability, such as cancelling only the work that is theirs.
 *
 * <p>Invariants: a token of an issuer that is no tenant's and not the operator's causes no outgoing call; a tenant's caller learns
 * nothing of another tenant, not even that it exists; a route that states no permission is refused; a suspended tenant's caller reads and changes nothing; roles that are the operator's count
 * in the operator's realm only.
 */
@NullMarked
package io.quartermaster.access;

import org.jspecify.annotations.NullMarked;
