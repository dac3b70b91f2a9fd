/**
 * Keycloak's administration, as the service uses it.
 *
 * <p>Owns: the HTTP engine, the administrator's token and the time limits of calls to Keycloak's administration; the credentials of nodes.
 *
 * <p>Does not own: the check of tokens ({@code access}); what a tenant's realm holds ({@code tenancy}).
 *
 * <p>Invariants: no call runs on an event loop of the service or holds up one; a call that is given up ends at once and gives its permit
 * back; no call is made inside a database transaction.
 */
@NullMarked
package io.quartermaster.access.keycloak;

import org.jspecify.annotations.NullMarked;
