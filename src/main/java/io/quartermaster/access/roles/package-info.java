/**
 * The lists of roles and permissions, and the description of the caller.
 *
 * <p>Owns: the resources for roles, for permissions, and for the caller itself ({@code /v1/me}).
 *
 * <p>Does not own: the roles and permissions ({@code access}), or who has them (the realms in Keycloak).
 *
 * <p>Invariants: the lists are those by which the gate decides.
 */
@NullMarked
package io.quartermaster.access.roles;

import org.jspecify.annotations.NullMarked;
